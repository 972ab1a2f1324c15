//! Which options were given: nodes judged against the contract's key table, and nothing else.

use proc_macro2::Span;
use replicant_checkpoint::contract::keys::{self, Key, Place, Presence, Repeat, ValueShape};
use replicant_checkpoint::contract::nearest::nearest;
use replicant_checkpoint::contract::rules::Rule;

use crate::diagnostics::Diagnostics;
use crate::grammar::{Name, Node, Tail, Term};
use crate::path::Path;

/// Options of one place, in the order written. Only readable ones are here.
#[derive(Debug, Default)]
pub(crate) struct Options {
    given: Vec<(&'static Key, Span, Value)>,
    /// Names whose option was written but could not be read; their absence is no second mistake.
    unreadable: Vec<&'static str>,
}

/// What was written after a name.
#[derive(Debug)]
pub(crate) enum Value {
    Flag,
    Name(Name),
    Names(Vec<Name>),
    Path(Path),
    Paths(Vec<Path>),
    Block(Option<Name>, Options),
    AcceptAll,
    AcceptFields(Vec<Name>),
    Route(Route),
}

/// `route("mail", MailOutbox, record)`.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) prefix: Name,
    pub(crate) resource: Path,
    pub(crate) action: Name,
}

impl Options {
    /// Reads the options of a place. Every mistake is reported; what is left is readable.
    pub(crate) fn read(place: Place, nodes: Vec<Node>, diagnostics: &mut Diagnostics) -> Self {
        let mut options = Self::default();
        for node in nodes {
            options.read_one(place, node, diagnostics);
        }
        options
    }

    fn read_one(&mut self, place: Place, node: Node, diagnostics: &mut Diagnostics) {
        let Some(name) = node.head.ident() else {
            let fact = format!("{} takes options, not values", place.as_str());
            diagnostics.report(Rule::OptionSyntax, node.head.span(), fact);
            return;
        };
        let Some(key) = keys::find(place, &name.text) else {
            unknown(place, &name, diagnostics);
            return;
        };
        let seen = self.given.iter().any(|(given, ..)| given.name == key.name)
            || self.unreadable.contains(&key.name);
        if seen && key.repeat == Repeat::Once {
            let fact = format!("`{}` is given twice", name.text);
            diagnostics.report(Rule::OptionRepeated, name.span, fact);
            return;
        }
        match value(key, &name, node.tail, diagnostics) {
            Some(value) => self.given.push((key, name.span, value)),
            None => self.unreadable.push(key.name),
        }
    }

    /// Reports required options that are absent, at `span`.
    pub(crate) fn require(
        &self,
        place: Place,
        of: &str,
        span: Span,
        diagnostics: &mut Diagnostics,
    ) {
        for key in keys::available(place).filter(|key| key.presence == Presence::Required) {
            if !self.was_written(key.name) {
                diagnostics.report_with_help(
                    Rule::OptionMissing,
                    span,
                    format!("`{of}` has no `{}`", key.name),
                    format!("add `{}`", key.usage),
                );
            }
        }
    }

    /// Was the option written at all, readable or not?
    pub(crate) fn was_written(&self, name: &str) -> bool {
        self.unreadable.contains(&name) || self.given.iter().any(|(key, ..)| key.name == name)
    }

    /// Where the flag or option was written.
    pub(crate) fn span(&self, name: &str) -> Option<Span> {
        self.get(name).map(|(span, _)| span)
    }

    /// The value of a name or text option.
    pub(crate) fn name(&self, name: &str) -> Option<&Name> {
        match self.get(name) {
            Some((_, Value::Name(name))) => Some(name),
            _ => None,
        }
    }

    /// The entries of a list of names.
    pub(crate) fn names(&self, name: &str) -> Option<&[Name]> {
        match self.get(name) {
            Some((_, Value::Names(names))) => Some(names),
            _ => None,
        }
    }

    /// The value of a path option.
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        match self.get(name) {
            Some((_, Value::Path(path))) => Some(path),
            _ => None,
        }
    }

    /// The entries of a list of paths.
    pub(crate) fn paths(&self, name: &str) -> &[Path] {
        match self.get(name) {
            Some((_, Value::Paths(paths))) => paths,
            _ => &[],
        }
    }

    /// The options inside a block.
    pub(crate) fn block(&self, name: &str) -> Option<&Self> {
        match self.get(name) {
            Some((_, Value::Block(_, options))) => Some(options),
            _ => None,
        }
    }

    /// The value of `accept`, and where it was written.
    pub(crate) fn get(&self, name: &str) -> Option<(Span, &Value)> {
        self.all()
            .find(|(key, ..)| *key == name)
            .map(|(_, span, value)| (span, value))
    }

    /// Every option in the order written.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'static str, Span, &Value)> {
        self.given
            .iter()
            .map(|(key, span, value)| (key.name, *span, value))
    }
}

fn value(
    key: &'static Key,
    name: &Name,
    tail: Tail,
    diagnostics: &mut Diagnostics,
) -> Option<Value> {
    let (wrong, fact) = match &tail {
        Tail::None => (name.span, format!("`{}` has no value", key.name)),
        Tail::Equals(term) => (
            term.span(),
            format!(
                "`{}` does not take the value `{}`",
                key.name,
                term.written()
            ),
        ),
        Tail::List(_, list) => (*list, format!("`{}` does not take this list", key.name)),
    };
    let read = match (key.shape, tail) {
        (ValueShape::Flag, Tail::None) => Some(Value::Flag),
        (ValueShape::Name, Tail::Equals(term)) => term.name().map(Value::Name),
        (ValueShape::Text, Tail::Equals(term)) => term.string().map(Value::Name),
        (ValueShape::Path, Tail::Equals(term)) => Path::read(term).map(Value::Path),
        (ValueShape::Word(words), Tail::Equals(term)) => {
            return word(key, words, &term, diagnostics);
        }
        (ValueShape::Names, Tail::List(nodes, _)) => {
            return entries(key, nodes, Term::name_of, diagnostics).map(Value::Names);
        }
        (ValueShape::Paths, Tail::List(nodes, _)) => {
            return entries(key, nodes, Path::read, diagnostics).map(Value::Paths);
        }
        (ValueShape::Block(place), Tail::List(nodes, _)) => {
            let options = Options::read(place, nodes, diagnostics);
            options.require(place, key.name, name.span, diagnostics);
            Some(Value::Block(None, options))
        }
        (ValueShape::OptionalBlock(_), Tail::None) => Some(Value::Block(None, Options::default())),
        (ValueShape::OptionalBlock(place), Tail::List(nodes, _)) => {
            let (own_name, nodes) = split_name(place, nodes);
            Some(Value::Block(
                own_name,
                Options::read(place, nodes, diagnostics),
            ))
        }
        (ValueShape::NamedBlock(place), Tail::List(nodes, _)) => {
            let (own_name, nodes) = split_name(place, nodes);
            own_name.map(|own_name| {
                let options = Options::read(place, nodes, diagnostics);
                options.require(place, &own_name.text, own_name.span, diagnostics);
                Value::Block(Some(own_name), options)
            })
        }
        (ValueShape::Accept, Tail::Equals(term)) => term
            .ident()
            .filter(|word| word.text == "all")
            .map(|_| Value::AcceptAll),
        (ValueShape::Accept, Tail::List(nodes, _)) => {
            return entries(key, nodes, Term::name_of, diagnostics).map(Value::AcceptFields);
        }
        (ValueShape::Route, Tail::List(nodes, _)) => route(nodes).map(Value::Route),
        _ => None,
    };
    if read.is_none() {
        diagnostics.report_with_help(
            Rule::OptionValue,
            wrong,
            fact,
            format!("write `{}`", key.usage),
        );
    }
    read
}

impl Term {
    fn name_of(self) -> Option<Name> {
        self.name()
    }
}

/// A prefix, a resource and an action, in this order.
fn route(nodes: Vec<Node>) -> Option<Route> {
    let mut terms = nodes.into_iter().map(|node| match node.tail {
        Tail::None => Some(node.head),
        Tail::Equals(_) | Tail::List(..) => None,
    });
    let (prefix, resource, action) = (terms.next()??, terms.next()??, terms.next()??);
    let route = Route {
        prefix: prefix.string()?,
        resource: Path::read(resource)?,
        action: action.name()?,
    };
    terms.next().is_none().then_some(route)
}

/// The first entry, when it is the block's own name rather than an option of it.
fn split_name(place: Place, mut nodes: Vec<Node>) -> (Option<Name>, Vec<Node>) {
    let own_name = nodes.first().and_then(|node| match node.tail {
        Tail::None => node.head.name(),
        Tail::Equals(_) | Tail::List(..) => None,
    });
    match own_name {
        Some(name) if keys::find(place, &name.text).is_none() => {
            nodes.remove(0);
            (Some(name), nodes)
        }
        _ => (None, nodes),
    }
}

fn word(key: &Key, words: &[&str], term: &Term, diagnostics: &mut Diagnostics) -> Option<Value> {
    if let Some(name) = term.name()
        && words.contains(&name.text.as_str())
    {
        return Some(Value::Name(name));
    }
    let legal = words.join("`, `");
    let written = term.written();
    let meant = nearest(&written, words.iter().copied());
    let meant = meant.map(|meant| format!("; did you mean `{meant}`?"));
    diagnostics.report_with_help(
        Rule::OptionValue,
        term.span(),
        format!(
            "`{written}` is not a value of `{}`{}",
            key.name,
            meant.unwrap_or_default()
        ),
        format!("write one of `{legal}`"),
    );
    None
}

fn entries<T>(
    key: &Key,
    nodes: Vec<Node>,
    read: impl Fn(Term) -> Option<T>,
    diagnostics: &mut Diagnostics,
) -> Option<Vec<T>> {
    let mut entries = Vec::new();
    let mut readable = true;
    for node in nodes {
        let span = match &node.tail {
            Tail::None => node.head.span(),
            Tail::Equals(term) => term.span(),
            Tail::List(_, list) => *list,
        };
        match (node.tail, read(node.head)) {
            (Tail::None, Some(entry)) => entries.push(entry),
            _ => {
                readable = false;
                let fact = format!("this is not an entry of `{}`", key.name);
                let help = format!("write `{}`", key.usage);
                diagnostics.report_with_help(Rule::OptionValue, span, fact, help);
            }
        }
    }
    readable.then_some(entries)
}

fn unknown(place: Place, name: &Name, diagnostics: &mut Diagnostics) {
    let elsewhere = Place::ALL
        .iter()
        .filter(|other| family(**other) == family(place))
        .find_map(|other| keys::find(*other, &name.text));
    if let Some(key) = elsewhere {
        diagnostics.report(
            Rule::OptionMisplaced,
            name.span,
            format!(
                "`{}` belongs into {}, not into {}",
                name.text,
                key.place.as_str(),
                place.as_str()
            ),
        );
        return;
    }
    let meant = nearest(&name.text, keys::available(place).map(|key| key.name));
    let meant = meant.and_then(|meant| keys::find(place, meant));
    let fact = format!("`{}` is not an option of {}", name.text, place.as_str());
    match meant {
        Some(key) => diagnostics.report_with_help(
            Rule::OptionUnknown,
            name.span,
            format!("{fact}; did you mean `{}`?", key.name),
            format!("write `{}`", key.usage),
        ),
        None => diagnostics.report_with_help(
            Rule::OptionUnknown,
            name.span,
            fact,
            format!("the options are {}", listed(place)),
        ),
    }
}

/// The options of a place. Those of a history, a log or a snapshot are many, and whoever writes one knows its family.
fn listed(place: Place) -> String {
    let mut names: Vec<String> = Vec::new();
    for key in keys::available(place) {
        let family = ["append", "history", "snapshot"].iter().find(|family| {
            let rest = key.name.strip_prefix(**family);
            rest.is_some_and(|rest| rest.starts_with('_'))
        });
        let name = match family {
            Some(family) => format!("`{family}_...`"),
            None => format!("`{}`", key.name),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Places whose options a user may confuse: those of one attribute family.
const fn family(place: Place) -> u8 {
    match place {
        Place::Resource
        | Place::Field
        | Place::Identity
        | Place::Actions
        | Place::Action
        | Place::Message
        | Place::Multitenancy
        | Place::TenantFn
        | Place::SnapshotScopes => 0,
        Place::Domain => 1,
        Place::Checkpoint | Place::Grants => 2,
        Place::Sink | Place::MessageRoutes => 3,
    }
}
