//! Guesses from the preceding brackets whether a token is inside a function, which decides between `runtime` and `dynamic`. For
//! files without a syntax tree.

use super::scan::Token;

/// The currently open brackets.
pub(super) struct Functions<'a> {
    levels: Vec<Level>,
    /// The two previous tokens.
    before: [Token<'a>; 2],
    /// Whether the last closed parentheses belong to an `if`, `for` or similar, rather than to parameters.
    closed_control: bool,
    /// Whether the last closed parentheses contained the name `require`.
    closed_require: bool,
    open_braces: usize,
}

#[derive(Clone, Copy, Default)]
struct Level {
    bracket: u8,
    is_control: bool,
    in_function: bool,
    /// Inside a function with a parameter `require`.
    in_require: bool,
    /// For parentheses: whether they contain the name `require`.
    names_require: bool,
    /// After the `=>` of a function that has not ended.
    in_arrow: bool,
    /// After the `:` before a return type.
    in_return_type: bool,
    /// The number of `?` in conditional expressions whose `:` has not occurred.
    conditionals: u32,
}

impl<'a> Functions<'a> {
    pub(super) fn new() -> Self {
        Self {
            levels: vec![Level::default()],
            before: [Token::Start; 2],
            closed_control: false,
            closed_require: false,
            open_braces: 0,
        }
    }

    pub(super) fn inside(&self) -> bool {
        let level = self.level();
        level.in_function || level.in_arrow
    }

    /// Whether `require` is a parameter here, as in AMD modules and bundles.
    pub(super) fn require_is_parameter(&self) -> bool {
        self.level().in_require
    }

    pub(super) fn before(&self) -> [Token<'a>; 2] {
        self.before
    }

    /// Processes the next token; `follows` is the byte after it.
    pub(super) fn see(&mut self, token: Token<'a>, follows: Option<u8>) {
        match token {
            Token::Mark(mark) => self.see_mark(mark, follows),
            // A statement keyword ends the preceding arrow function, even without a semicolon.
            Token::Word("const" | "let" | "var" | "function" | "class" | "import" | "export" | "if" | "for") => {
                self.change(|level| level.in_arrow &= level.bracket == b'(');
            }
            Token::Word("require") if matches!(follows, Some(b',' | b')')) => {
                self.change(|level| level.names_require |= level.bracket == b'(');
            }
            _ => {}
        }
        self.before = [token, self.before[0]];
    }

    fn see_mark(&mut self, mark: u8, follows: Option<u8>) {
        let [before, earlier] = self.before;
        match mark {
            b'(' => {
                let is_control =
                    matches!(before, Token::Word("if" | "for" | "while" | "switch" | "with" | "catch" | "await"));
                self.open(mark, is_control, false);
            }
            b'[' => self.open(mark, false, false),
            b'{' => {
                let is_body = match before {
                    Token::Mark(b')') => !self.closed_control,
                    Token::Mark(b'>') if earlier == Token::Mark(b'=') => true,
                    Token::Mark(b':' | b'|' | b'&' | b'<' | b',' | b'?' | b'=') => false,
                    _ => self.level().in_return_type,
                };
                if is_body {
                    self.change(|level| level.in_return_type = false);
                }
                self.open(mark, false, is_body);
            }
            b')' | b']' | b'}' => self.close(mark),
            b'>' if before == Token::Mark(b'=') => self.change(|level| level.in_arrow = true),
            b';' => self.change(|level| {
                (level.in_arrow, level.in_return_type, level.conditionals) = (false, false, 0);
            }),
            b',' => self.change(|level| level.in_arrow = false),
            b'?' => {
                let is_other = matches!(follows, Some(b'.' | b'?' | b':' | b',' | b')' | b'='));
                let is_type = matches!(before, Token::Mark(b'(' | b',' | b':' | b'<' | b'|' | b'=' | b'?'));
                self.change(|level| level.conditionals += u32::from(!is_other && !is_type));
            }
            b':' => {
                let is_return = before == Token::Mark(b')') && !self.closed_control;
                self.change(|level| match level.conditionals {
                    0 => level.in_return_type |= is_return,
                    _ => level.conditionals -= 1,
                });
            }
            _ => {}
        }
    }

    fn level(&self) -> Level {
        self.levels.last().copied().unwrap_or_default()
    }

    fn change(&mut self, change: impl FnOnce(&mut Level)) {
        if let Some(level) = self.levels.last_mut() {
            change(level);
        }
    }

    fn open(&mut self, bracket: u8, is_control: bool, is_body: bool) {
        let in_function = self.inside() || is_body;
        let in_require = self.level().in_require || (is_body && self.closed_require);
        self.levels.push(Level { bracket, is_control, in_function, in_require, ..Level::default() });
        self.open_braces += usize::from(bracket == b'{');
    }

    /// A brace also closes all brackets opened inside it; any other bracket that does not match is ignored.
    fn close(&mut self, bracket: u8) {
        let opening = match bracket {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        if opening == b'{' && self.open_braces > 0 {
            while self.levels.len() > 1 && self.level().bracket != b'{' {
                self.levels.pop();
            }
            self.open_braces -= 1;
        }
        let level = self.level();
        if self.levels.len() > 1 && level.bracket == opening {
            self.levels.pop();
            if opening == b'(' {
                (self.closed_control, self.closed_require) = (level.is_control, level.names_require);
            } else if opening == b'{' {
                // The end of its body ends an arrow function.
                self.change(|outer| outer.in_arrow = false);
            }
        }
    }
}
