//! What comes out of a child: JSON kept verbatim, redaction, escaping.
