"""The cells of a course notebook, in order, with answers to its seventeen quizzes; `test_course.py` runs and checks them.

What the notebook gives is as it stands there, but for cells without code, the picture windows, and fewer games.
"""

import joblib
import numpy as np
from tetris.env import Board, TetrisEnv, Tetromino

# The game

env = TetrisEnv()
env.reset()
for _ in range(50):
    action = np.random.randint(6)
    state, reward, done = env.step(action)
env.close()

board, tetromino = state
print(board)

# Quiz 1: drop a tetromino

board = Board(
    [
        [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1],
        [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    ]
)
piece = Tetromino.create("T", (3, 1))
new_piece = piece.move_left().move_left().rotate_left().drop(board)
new_board = board.add(new_piece)

print("        BEFORE")
print(board.add(Tetromino.create("T", (3, 1))))
print("\n        AFTER")
print(new_board)

# Quiz 2: every way to drop a tetromino


def next_moves(board, tetromino):
    orientations = {"T": 4, "J": 4, "L": 4, "Z": 2, "S": 2, "I": 2, "O": 1}
    grids = []
    tetros = []
    for i in range(orientations[tetromino.name]):
        if i == 0:
            piece = tetromino
        elif i == 1:
            piece = tetromino.rotate_right()
        elif i == 2:
            piece = tetromino.rotate_left()
        elif i == 3:
            piece = tetromino.rotate_right().rotate_right()
        for column in range(board.columns()):
            landed = piece.drop(board, column)
            if landed is None:
                continue
            tetros.append(landed)
            grids.append(board.add(landed))
    return grids, tetros


# Quizzes 3 to 8: what is counted on a board, and the score

TALL = [[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0], [0, 1, 1, 1, 1, 1], [0, 1, 1, 1, 1, 1], [0, 1, 0, 1, 0, 1]]
TALL += [[1, 1, 1, 1, 1, 1], [1, 0, 0, 1, 1, 1], [0, 1, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 1]]
TALL += [[0, 1, 1, 1, 1, 1]]
FULL = TALL[:1] + TALL[2:]
SECOND = [[int((column, row) in [(4, 2), (6, 2)] or cell) for row, cell in enumerate(of)] for column, of in enumerate(TALL)]


def column_height(grid):
    return np.where(grid.any(axis=0), len(grid) - grid.argmax(axis=0), 0)


def total_height(board):
    grid = board.grid.T
    return column_height(grid).sum()


def complete_lines(board):
    grid = board.grid.T
    return grid.all(axis=1).sum()


def is_hole(grid):
    return (grid == 0) & (np.cumsum(grid, axis=0) > 0)


def number_holes(board):
    grid = board.grid.T
    return is_hole(grid).sum()


def bumpiness(board):
    grid = board.grid.T
    return np.abs(np.diff(column_height(grid))).sum()


def compute_score(w, board, piece):
    return -w[0] * total_height(board) + w[1] * complete_lines(board) - w[2] * number_holes(board) - w[3] * bumpiness(board)


board = Board(TALL)
print("TEST BOARD".center(30))
print(board)
print("Column height:", column_height(board.grid.T))
print("Total height:", total_height(board))
print("Number of holes:", number_holes(board))
board = Board(FULL)
print("TEST BOARD".center(28))
print(board)
print("Complete lines:", complete_lines(board))
print("Bumpiness:", bumpiness(board))
print("Score:", compute_score([1, 1, 1, 1], board, None))

# Quiz 9: a player


class TetrisAI:
    def __init__(self, score_fun=compute_score):
        self.target = None
        self.score_fun = score_fun

    def __call__(self, state, w):
        board, piece = state
        if self.target is None:
            grids, landed = next_moves(board, piece)
            scores = [self.score_fun(w, grid, tetro) for grid, tetro in zip(grids, landed, strict=True)]
            self.target = landed[np.argmax(scores)]
        action = piece.action_for(self.target)
        if (action == 5) or (piece.name != self.target.name):
            self.target = None
        return action


def play_tetris(params, horizon=1000, repeat=1, render=False, score_fun=compute_score):
    params = np.atleast_2d(params)

    def rollout(seed, w):
        policy = TetrisAI(score_fun)
        tetris = TetrisEnv()
        tetris.seed(42 + seed)
        score = 0
        for _ in range(repeat):
            state = tetris.reset()
            for _ in range(horizon):
                action = policy(state, w)
                state, reward, done = tetris.step(action)
                score += reward / repeat
                if render:
                    tetris.render()
                if done:
                    break
        tetris.close()
        return score

    n_jobs = 8
    scores = joblib.Parallel(n_jobs)(joblib.delayed(rollout)(i, w) for i, w in enumerate(params))
    return np.array(scores).squeeze()


# Quiz 10: the cross-entropy method


def elite_statistics(params, scores, n_elites):
    elites = params[np.argsort(scores)[-n_elites:]]
    return elites.mean(axis=0), elites.std(axis=0), params[np.argmax(scores)]


def policy_search(epochs=100, batch=100, elite=0.2, horizon=1000, repeat=1):
    n_elites = int(batch * elite)
    extra_std = 2.0
    extra_decay = epochs * 0.6
    size = 4
    mean = np.zeros(size)
    std = np.ones(size)
    best_score = -np.inf
    best_param = None
    history = []
    for it in range(epochs):
        extra_cov = max(1.0 - it / extra_decay, 0) * extra_std**2
        cov = np.diag(std**2 + extra_cov)
        params = np.random.multivariate_normal(mean, cov, batch)
        scores = play_tetris(params, horizon, repeat)
        mean, std, best = elite_statistics(params, scores, n_elites)
        if scores.max() >= best_score:
            best_score = scores.max()
            best_param = best.copy()
        history.append(scores.mean())
    return best_param / best_param.sum()


# Quizzes 11 to 17: better features


def landing_height(board, tetro):
    grid = board.grid.T
    return len(grid) - tetro.anchor[1]


def erosion(board, tetro):
    grid = board.grid.T
    rows = tetro.position()[:, 1]
    return complete_lines(board) * grid.all(axis=1)[rows[rows >= 0]].sum()


def row_transitions(board, tetro=None):
    grid = board.grid.T
    return (np.diff(np.pad(grid, ((0, 0), (1, 1)), constant_values=1), axis=1) != 0).sum()


def column_transitions(board, tetro=None):
    grid = board.grid.T
    return (np.diff(np.pad(grid, ((1, 1), (0, 0)), constant_values=1), axis=0) != 0).sum()


def cumulative_wells(board, tetro=None):
    grid = board.grid.T
    walled = np.pad(grid, ((0, 0), (1, 1)), constant_values=1)
    is_open = np.cumsum(grid, axis=0) == 0
    depth = (is_open & (walled[:, :-2] == 1) & (walled[:, 2:] == 1)).sum(axis=0)
    return (depth * (depth + 1) // 2).sum()


def hole_depths(board, tetro=None):
    grid = board.grid.T
    return np.cumsum(grid, axis=0)[is_hole(grid)].sum()


def lines_with_holes(board, tetro=None):
    grid = board.grid.T
    return is_hole(grid).any(axis=1).sum()


def compute_new_score(w, board, piece):
    return (
        -w[0] * landing_height(board, piece)
        + w[1] * erosion(board, piece)
        - w[2] * row_transitions(board)
        - w[3] * column_transitions(board)
        - w[4] * number_holes(board)
        - w[5] * cumulative_wells(board)
        - w[6] * hole_depths(board)
        - w[7] * lines_with_holes(board)
    )


tetro = Tetromino.create("T", (1, 2)).rotate_left()
board = Board(TALL).add(tetro)
print("TEST BOARD".center(30))
print(board)
print("Landing height:", landing_height(board, tetro))
board = Board(SECOND).add(tetro)
print("TEST BOARD".center(30))
print(board)
print("Erosion:", erosion(board, tetro))
board = Board(SECOND)
print("TEST BOARD".center(30))
print(board)
print("Row transitions:", row_transitions(board))
print("Column transitions:", column_transitions(board))
print("Cumulative wells:", cumulative_wells(board))
print("Hole depths:", hole_depths(board))
print("Lines with holes:", lines_with_holes(board))
