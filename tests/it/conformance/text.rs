//! The forms of the kit: tensors as text, lines of files, and what they refuse.

use serde_json::json;
use tetrion::conformance::{Expected, Mismatch, Names, Script, ScriptStep, Tensor};

fn tensor(dtype: i32, shape: &[u32], data: &[u8]) -> Tensor {
    Tensor { dtype, shape: shape.to_vec(), data: data.to_vec() }
}

#[test]
fn tensors_are_texts_that_give_back_their_bytes() {
    let floats: Vec<u8> =
        [1.5_f32, -0.0, f32::MIN_POSITIVE, 16_777_216.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    for (tensor, text) in [
        (tensor(1, &[3], &[0, 1, 1]), "bool[3] 0 1 1"),
        (tensor(2, &[2], &[255, 128]), "int8[2] -1 -128"),
        (tensor(3, &[2, 3], &[7, 7, 7, 7, 7, 9]), "uint8[2,3] 7*5 9"),
        (tensor(4, &[1], &[0, 128]), "int16[1] -32768"),
        (tensor(5, &[1], &[1, 2]), "uint16[1] 513"),
        (tensor(6, &[], &[1, 0, 0, 128]), "int32[] -2147483647"),
        (tensor(7, &[0], &[]), "uint32[0]"),
        (tensor(8, &[1], &[254, 255, 255, 255, 255, 255, 255, 255]), "int64[1] -2"),
        (tensor(9, &[1], &[255; 8]), "uint64[1] 18446744073709551615"),
        (
            tensor(11, &[4], &floats),
            "float32[4] 1.5 -0 0.000000000000000000000000000000000000011754944 16777216",
        ),
        (tensor(12, &[1], &f64::NAN.to_le_bytes()), "float64[1] NaN"),
    ] {
        assert_eq!(tensor.to_text().as_deref(), Some(text));
        assert_eq!(Tensor::from_text(text).as_ref(), Ok(&tensor));
    }
}

#[test]
fn bytes_without_a_text_stay_as_they_are() {
    for tensor in [
        tensor(1, &[1], &[2]),                                     // no bool
        tensor(3, &[2], &[1]),                                     // too short
        tensor(3, &[4_294_967_295, 4_294_967_295], &[1]),          // too long to multiply
        tensor(6, &[1], &[0; 5]),                                  // no whole number of elements
        tensor(10, &[1], &[0, 0]),                                 // float16
        tensor(11, &[1], &(f32::NAN.to_bits() + 1).to_le_bytes()), // another NaN
        tensor(99, &[1], &[0]),                                    // no type
        tensor(3, &[1 << 17], &[0; 1 << 17]),                      // too many
    ] {
        assert_eq!(tensor.to_text(), None, "{:?}", tensor.dtype);
    }
    for text in [
        "",
        "int8",
        "int8[1",
        "int8[x] 1",
        "int8[2] 1",
        "int8[1] 200",
        "bool[1] 2",
        "int8[9] 1*999999999999",
        "int8[9] 1 1*18446744073709551615",
    ] {
        assert!(Tensor::from_text(text).is_err(), "{text}");
    }
}

#[test]
fn lines_that_cannot_be_read_are_named() {
    #[track_caller]
    fn refused(text: &str, problem: &str) {
        assert_eq!(
            Script::parse("x", text).unwrap_err().to_string(),
            format!("conformance/x.txt:2: {problem}")
        );
    }
    refused("# x\n? Step", "\"?\", expected #, >, >>, <, <<, ! or !!");
    refused("# x\n> Step {\"session\"}", "expected `:` at line 1 column 11");
    refused("# x\n> Step hex 0g", "hex, expected two digits per byte");
    let script = Script::parse("x", "> A {\n  \"b\": 1}\n<< end\n\n\n# y\n< {}\n").unwrap();
    assert_eq!(script.cases.len(), 2);
    assert_eq!((script.cases[0][0].number, script.cases[0][0].num_more), (1, 1));
    assert_eq!(script.cases[0][1].step, ScriptStep::Expect(Expected::End));
    assert_eq!(
        (script.cases[1][0].number, &script.cases[1][0].step),
        (7, &ScriptStep::Expect(Expected::Answer(json!({}))))
    );
}

#[test]
fn answers_are_compared_part_by_part() {
    let expected = json!({
        "name": "$name", "again": "$name", "any": "*", "number": 1.0, "list": [1, 2],
        "sets": [{"name": "b", "size": 1}, "..."], "open": {"size": 1, "...": "*"}, "rewards": "float32[2,2] 0 0 0 0.1",
    });
    let found = json!({
        "name": "sessions/1", "again": "sessions/1", "any": {"x": 1}, "number": 1, "list": [1, 2],
        "sets": [{"name": "a"}, {"name": "b", "size": 1}], "open": {"size": 1, "more": 2}, "rewards": "float32[2,2] 0 0 0 0.1",
    });
    assert_eq!(Names::default().compare(&expected, &found), vec![]);
    let wrong = json!({
        "name": "sessions/1", "again": "sessions/2", "number": 2, "list": [1, 2, 3],
        "sets": [{"name": "a"}], "open": {"size": 2}, "rewards": "float32[2,2] 0 0 0 0.099999994", "more": true,
    });
    let found: Vec<String> =
        Names::default().compare(&expected, &wrong).iter().map(Mismatch::to_string).collect();
    assert_eq!(
        found,
        [
            "any: * expected, nothing found",
            "list[2]: nothing expected, 3 found",
            "name: sessions/2 expected, sessions/1 found", // `again` comes first
            "number: 1.0 expected, 2 found",
            "open.size: 1 expected, 2 found",
            "rewards[1,1]: 0.1 expected, 0.099999994 found",
            "sets[\"b\"]: {\"name\":\"b\",\"size\":1} expected, nothing found",
            "more: nothing expected, true found",
        ]
    );
}

#[test]
fn of_many_differences_the_first_are_named() {
    let (expected, found) = (json!({"numbers": vec![0; 50]}), json!({"numbers": vec![1; 5000]}));
    let found = Names::default().compare(&expected, &found);
    assert_eq!(found.len(), 11);
    assert_eq!(found[9].to_string(), "numbers[9]: 0 expected, 1 found");
    assert_eq!(found[10].to_string(), "and more differences");
    let (expected, found) = (json!("uint8[50] 0*50"), json!("uint8[50] 1*50"));
    assert_eq!(Names::default().compare(&expected, &found).len(), 11);
}
