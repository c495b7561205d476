//! The open connections of each address, so that one address cannot take all places.
//!
//! The holder of an IPv6 address has all 2^64 addresses of its network, so a network counts as one address. An IPv4
//! address is one address in every notation. A proxy is one address, however many callers it serves.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The bits of an IPv6 address that identify its network.
const NETWORK: u128 = !(u64::MAX as u128);

/// Number of connections per address, and the limit on each.
#[derive(Debug)]
pub(super) struct Addresses {
    limit: u32,
    /// Number of open connections by address; no entry is zero.
    open: Mutex<HashMap<IpAddr, u32>>,
}

/// The place of one connection, released when this value is dropped.
#[derive(Debug)]
pub(super) struct AddressPlace {
    addresses: Arc<Addresses>,
    key: IpAddr,
}

impl Addresses {
    pub(super) fn new(limit: u32) -> Arc<Addresses> {
        Arc::new(Addresses { limit, open: Mutex::default() })
    }

    /// Takes a place if the address has one left.
    pub(super) fn take(self: &Arc<Addresses>, address: IpAddr) -> Option<AddressPlace> {
        let key = key(address);
        let mut open = self.lock();
        let number = open.get(&key).copied().unwrap_or(0);
        if number >= self.limit {
            return None;
        }
        open.insert(key, number + 1);
        Some(AddressPlace { addresses: self.clone(), key })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, u32>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for AddressPlace {
    fn drop(&mut self) {
        let mut open = self.addresses.lock();
        match open.get_mut(&self.key) {
            Some(number) if *number > 1 => *number -= 1,
            _ => drop(open.remove(&self.key)),
        }
    }
}

/// The IPv4 address or IPv6 network that counts as one address.
fn key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK).into(),
        address => address,
    }
}
