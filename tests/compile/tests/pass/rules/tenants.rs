//! How are tenants told and kept apart?

mod tenant_source_without_tenancy {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod tenant_source_missing {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod tenant_source_repeated {
    use replicant_sink::prelude::*;

    fn tenant(row: &RowView<'_>, _: &[&str]) -> Result<Tenant, TenantError> {
        Tenant::new(row.text("org_id")?)
    }

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod tenant_field_unknown {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod tenant_not_mapped {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod tenant_sensitive {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders", sensitive(note), skip(note),
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod tenancy_attribute_missing {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod tenancy_schema_missing {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod tenancy_schema_invalid {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod tenancy_option_unused {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = context, schema = "tenant_{}"),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: String,
    }
}

mod identity_key_tenant {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod action_tenant_bypass {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        identity(by_number, keys(number)),
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
        number: i64,
    }
}

mod target_schema_unused {
    use replicant_sink::prelude::*;

    #[replicant(
        table = "orders",
        schema = "mirror",
        multitenancy(strategy = attribute, attribute = org_id),
        tenant_attribute = org_id,
        actions(read, destroy, create(accept = all)),
    )]
    struct Order {
        #[replicant(primary_key)]
        id: i64,
        org_id: i64,
    }
}
