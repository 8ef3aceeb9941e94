//! The keywords of Go. The lexer recognises them once, so that no later pass compares text.

/// A keyword; `No` for any other token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keyword {
    No,
    Break,
    Case,
    Chan,
    Const,
    Continue,
    Default,
    Defer,
    Else,
    Fallthrough,
    For,
    Func,
    Go,
    Goto,
    If,
    Import,
    Interface,
    Map,
    Package,
    Range,
    Return,
    Select,
    Struct,
    Switch,
    Type,
    Var,
}

impl Keyword {
    pub(super) fn of(word: &[u8]) -> Self {
        // Length and first letter rule out most words without a comparison.
        let may_be = (2..=11).contains(&word.len()) && word.first().is_some_and(|byte| (b'b'..=b'v').contains(byte));
        if !may_be {
            return Self::No;
        }
        match word {
            b"break" => Self::Break,
            b"case" => Self::Case,
            b"chan" => Self::Chan,
            b"const" => Self::Const,
            b"continue" => Self::Continue,
            b"default" => Self::Default,
            b"defer" => Self::Defer,
            b"else" => Self::Else,
            b"fallthrough" => Self::Fallthrough,
            b"for" => Self::For,
            b"func" => Self::Func,
            b"go" => Self::Go,
            b"goto" => Self::Goto,
            b"if" => Self::If,
            b"import" => Self::Import,
            b"interface" => Self::Interface,
            b"map" => Self::Map,
            b"package" => Self::Package,
            b"range" => Self::Range,
            b"return" => Self::Return,
            b"select" => Self::Select,
            b"struct" => Self::Struct,
            b"switch" => Self::Switch,
            b"type" => Self::Type,
            b"var" => Self::Var,
            _ => Self::No,
        }
    }

    /// Whether the word is needed to find blocks or declarations.
    pub(super) fn is_structure(self) -> bool {
        matches!(
            self,
            Self::Func
                | Self::Var
                | Self::Const
                | Self::Type
                | Self::Struct
                | Self::Interface
                | Self::If
                | Self::For
                | Self::Switch
                | Self::Select
        )
    }

    /// Whether a newline after the word implies a semicolon.
    pub(super) fn ends_statement(self) -> bool {
        matches!(self, Self::No | Self::Break | Self::Continue | Self::Fallthrough | Self::Return)
    }
}
