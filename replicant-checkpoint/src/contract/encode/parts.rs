//! Which bytes has each part of a manifest? Every part is taken apart exhaustively, so that a new field without bytes
//! does not compile.

use super::{Code, DecodeError, Reader, Writer};
use crate::contract::manifest::{
    Apart, Column, ColumnOrigin, Holding, Hook, Relation, Route, Table, Tenants, Told,
};
use crate::contract::role::Role;

impl Code for String {
    fn write(&self, out: &mut Writer) {
        out.length(self.len());
        out.0.extend_from_slice(self.as_bytes());
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let length = input.length()?;
        let bytes = input.take(length)?;
        let text = std::str::from_utf8(bytes).map_err(|_| DecodeError::NotText)?;
        Ok(text.to_owned())
    }
}

impl Code for Table {
    fn write(&self, out: &mut Writer) {
        let Self { schema, table } = self;
        schema.write(out);
        table.write(out);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            schema: Code::read(input)?,
            table: Code::read(input)?,
        })
    }
}

impl Code for Route {
    fn write(&self, out: &mut Writer) {
        let Self {
            prefix,
            target,
            action,
            effect,
        } = self;
        prefix.write(out);
        target.write(out);
        action.write(out);
        out.option(effect.as_ref());
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            prefix: Code::read(input)?,
            target: Code::read(input)?,
            action: Code::read(input)?,
            effect: input.option()?,
        })
    }
}

impl Code for Relation {
    fn write(&self, out: &mut Writer) {
        let Self {
            source,
            target,
            holding,
            tenants,
            columns,
            skips,
            key,
            key_reach,
            provenance,
            hooks,
            on_truncate,
            on_schema_change,
        } = self;
        source.write(out);
        target.write(out);
        holding.write(out);
        tenants.write(out);
        out.list(columns);
        out.list(skips);
        out.list(key);
        key_reach.write(out);
        provenance.write(out);
        out.list(hooks);
        on_truncate.write(out);
        on_schema_change.write(out);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            source: Code::read(input)?,
            target: Code::read(input)?,
            holding: Code::read(input)?,
            tenants: Code::read(input)?,
            columns: input
                .list(|column: &Column| (column.target.clone(), column.origin.clone()))?,
            skips: input.list(Clone::clone)?,
            key: input.list(Clone::clone)?,
            key_reach: Code::read(input)?,
            provenance: Code::read(input)?,
            hooks: input.list(Clone::clone)?,
            on_truncate: Code::read(input)?,
            on_schema_change: Code::read(input)?,
        })
    }
}

impl Code for Holding {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Mirror => out.byte(1),
            Self::History {
                business_key,
                roles,
            } => {
                out.byte(2);
                out.list(business_key);
                out.list(roles);
            }
            Self::AppendLog { roles } => {
                out.byte(3);
                out.list(roles);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let by_role = |(role, _): &(Role, String)| *role;
        Ok(match input.byte()? {
            1 => Self::Mirror,
            2 => Self::History {
                business_key: input.list(Clone::clone)?,
                roles: input.list(by_role)?,
            },
            3 => Self::AppendLog {
                roles: input.list(by_role)?,
            },
            _ => return Err(DecodeError::UnknownWord),
        })
    }
}

impl Code for (Role, String) {
    fn write(&self, out: &mut Writer) {
        let (role, column) = self;
        role.write(out);
        column.write(out);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok((Code::read(input)?, Code::read(input)?))
    }
}

impl Code for Tenants {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::None => out.byte(1),
            Self::Some { apart, reach, told } => {
                out.byte(2);
                apart.write(out);
                reach.write(out);
                told.write(out);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match input.byte()? {
            1 => Self::None,
            2 => Self::Some {
                apart: Code::read(input)?,
                reach: Code::read(input)?,
                told: Code::read(input)?,
            },
            _ => return Err(DecodeError::UnknownWord),
        })
    }
}

impl Code for Apart {
    fn write(&self, out: &mut Writer) {
        let (form, name) = match self {
            Self::Column(name) => (1, name),
            Self::Schema(name) => (2, name),
        };
        out.byte(form);
        name.write(out);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match input.byte()? {
            1 => Self::Column(Code::read(input)?),
            2 => Self::Schema(Code::read(input)?),
            _ => return Err(DecodeError::UnknownWord),
        })
    }
}

impl Code for Told {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Nothing => out.byte(1),
            Self::Column(name) => {
                out.byte(2);
                name.write(out);
            }
            Self::Function { path, args } => {
                out.byte(3);
                path.write(out);
                out.list(args);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match input.byte()? {
            1 => Self::Nothing,
            2 => Self::Column(Code::read(input)?),
            3 => Self::Function {
                path: Code::read(input)?,
                args: input.sequence()?,
            },
            _ => return Err(DecodeError::UnknownWord),
        })
    }
}

impl Code for Hook {
    fn write(&self, out: &mut Writer) {
        let Self { kind, action, name } = self;
        kind.write(out);
        action.write(out);
        name.write(out);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            kind: Code::read(input)?,
            action: Code::read(input)?,
            name: Code::read(input)?,
        })
    }
}

impl Code for Column {
    fn write(&self, out: &mut Writer) {
        let Self {
            origin,
            target,
            storage,
            fidelity,
            protection,
        } = self;
        origin.write(out);
        target.write(out);
        storage.write(out);
        fidelity.write(out);
        protection.write(out);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self {
            origin: Code::read(input)?,
            target: Code::read(input)?,
            storage: Code::read(input)?,
            fidelity: Code::read(input)?,
            protection: Code::read(input)?,
        })
    }
}

impl Code for ColumnOrigin {
    fn write(&self, out: &mut Writer) {
        match self {
            Self::Destination => out.byte(0),
            Self::Source(name) => {
                out.byte(1);
                name.write(out);
            }
            Self::Before(name) => {
                out.byte(2);
                name.write(out);
            }
            Self::Stamp => out.byte(3),
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(match input.byte()? {
            0 => Self::Destination,
            1 => Self::Source(Code::read(input)?),
            2 => Self::Before(Code::read(input)?),
            3 => Self::Stamp,
            _ => return Err(DecodeError::UnknownWord),
        })
    }
}
