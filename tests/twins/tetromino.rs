//! The seven tetrominoes as text. Only the first orientation is drawn by hand; the others are what
//! turning the paper gives.

/// The seven letters in the order that numbers them 0..=6.
pub const TETROMINOES: &str = "IOTZSJL";

/// One orientation of a tetromino.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows from top to bottom, separated by `/`; `X` is a cell of the tetromino.
    pub drawing: String,
    /// The four cells as (row, column), counted from the lower left corner of the drawing.
    pub cells: Vec<(usize, usize)>,
    pub width: usize,
    pub height: usize,
}

impl Shape {
    fn drawn(drawing: &str) -> Shape {
        let rows: Vec<&str> = drawing.split('/').collect();
        let (height, width) = (rows.len(), rows[0].len());
        let mut cells = Vec::new();
        for (from_top, row) in rows.iter().enumerate() {
            for (column, letter) in row.chars().enumerate() {
                if letter == 'X' {
                    cells.push((height - 1 - from_top, column));
                }
            }
        }
        Shape { drawing: drawing.to_owned(), cells, width, height }
    }

    /// The cell that the lab notebook turns this shape around, as (row, column) from the lower left
    /// corner. The notebook's landing height is the height of this cell and not of a middle.
    pub fn lab_anchor(&self) -> (usize, usize) {
        for anchored in LAB_ANCHORS {
            if anchored.replace('@', "X") == self.drawing {
                for (from_top, row) in anchored.split('/').enumerate() {
                    if let Some(column) = row.find('@') {
                        return (self.height - 1 - from_top, column);
                    }
                }
            }
        }
        panic!("the lab notebook has no shape {}", self.drawing)
    }
}

/// The distinct orientations of a tetromino: the first as drawn, each next one a quarter turn
/// counter-clockwise, until a drawing comes back.
pub fn orientations(tetromino: char) -> Vec<Shape> {
    let mut drawings = vec![first_drawing(tetromino).to_owned()];
    loop {
        let next = turned_counter_clockwise(&drawings[drawings.len() - 1]);
        if drawings.contains(&next) {
            break;
        }
        drawings.push(next);
    }
    drawings.iter().map(|drawing| Shape::drawn(drawing)).collect()
}

/// Orientation 0 of MDPTetris' `pieces4.dat`.
fn first_drawing(tetromino: char) -> &'static str {
    match tetromino {
        'I' => "X/X/X/X",
        'O' => "XX/XX",
        'T' => "X./XX/X.",
        'Z' => ".X/XX/X.",
        'S' => "X./XX/.X",
        'J' => "X../XXX",
        'L' => "XXX/X..",
        other => panic!("{other} is not a tetromino"),
    }
}

/// A quarter turn to the left makes the last column, read downwards, the first row.
fn turned_counter_clockwise(drawing: &str) -> String {
    let rows: Vec<Vec<char>> = drawing.split('/').map(|row| row.chars().collect()).collect();
    let columns_from_the_right = (0..rows[0].len()).rev();
    let turned: Vec<String> =
        columns_from_the_right.map(|column| rows.iter().map(|row| row[column]).collect()).collect();
    turned.join("/")
}

/// The lab notebook's shapes with the anchor drawn `@`. The notebook calls the S here Z and the Z
/// here S; a shape has one anchor, whatever it is called.
const LAB_ANCHORS: [&str; 19] = [
    ".X./X@X", "X./@X/X.", ".X/X@/.X", "X@X/.X.", // T
    ".X/.X/X@", "X../@XX", "XX@/..X", "@X/X./X.", // J
    "X./X./@X", "@XX/X..", "..X/XX@", "X@/.X/.X", // L
    ".XX/X@.", "X./@X/.X", // S
    "XX./.@X", ".X/@X/X.", // Z
    "X/X/X/@", "@XXX",  // I
    "XX/X@", // O
];
