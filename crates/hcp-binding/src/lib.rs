//! Minting and revoking: providers and leases.
