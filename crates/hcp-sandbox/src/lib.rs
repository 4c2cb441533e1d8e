//! The child: launch, limits, supervision.
