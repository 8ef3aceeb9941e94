//! One function per user verb, joining the stages. The only API that the programs use.
