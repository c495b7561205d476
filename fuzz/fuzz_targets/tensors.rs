//! Tensors, read as every type of element and in several shapes.

#![no_main]

use libfuzzer_sys::fuzz_target;
use prost::Message;
use tetrion::protocol::pb;
use tetrion::protocol::tensor::{Array, DimSize, Element, decode};
use tetrion_fuzz::outcome;

fuzz_target!(|input: &[u8]| {
    if let Ok(tensor) = pb::Tensor::decode(input) {
        for dims in
            [&[DimSize::Any][..], &[DimSize::Any, DimSize::Any], &[DimSize::Exactly(3), DimSize::Any], &[]]
        {
            read::<u8>(&tensor, dims);
            read::<i8>(&tensor, dims);
            read::<u16>(&tensor, dims);
            read::<i32>(&tensor, dims);
            read::<u32>(&tensor, dims);
            read::<u64>(&tensor, dims);
            read::<f32>(&tensor, dims);
            read::<f64>(&tensor, dims);
        }
    }
});

fn read<T: Element>(tensor: &pb::Tensor, dims: &[DimSize]) {
    let read = decode::<T>(tensor, dims);
    outcome(&read);
    if let Ok(Array { shape, elements }) = read {
        let product: u64 = shape.iter().map(|&size| u64::from(size)).product();
        assert_eq!(product, elements.len() as u64, "{shape:?}");
    }
}
