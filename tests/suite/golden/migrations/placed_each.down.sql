-- Written by `replicant migrations`: undoes the migration of the same name.
-- Run it for each tenant, with search_path set to the tenant's schema.

do $tenant$
declare found pg_catalog.text := pg_catalog.current_schema();
begin
    if not coalesce(pg_catalog.cardinality(pg_catalog.current_schemas(false)) = 1
        and found <> 'public'
        and pg_catalog.length(found) > 7
        and pg_catalog.left(found, 7) = E'tenant_', false) then
        raise exception using message = E'search_path has to be the schema of one tenant, "tenant_{}", and nothing else';
    end if;
end $tenant$;

-- table "tenant_{}"."payments": created for each tenant
drop table "payments";
