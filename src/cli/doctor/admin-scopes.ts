/** What the doctor says of scopes of the admin API in the wrong places: in older databases names were all there was. */
import { isAdminScope } from '../../protocol/admin-api.ts';
import { formatScope, builtInScope } from '../../protocol/scope.ts';
import type { ClientRow } from '../../store/clients.ts';
import type { Resource } from '../../store/resources.ts';
import type { Scope } from '../../store/scopes.ts';
import { warning, type Finding } from './finding.ts';

/** A client that names them without having been given power on purpose: it gets nothing by them. */
export function unadministered({ client_id, scope, may_administer }: ClientRow): Finding[] {
  const named = scope.filter(isAdminScope);
  if (may_administer || named.length === 0) return [];
  const message = `${client_id}: names scopes of the admin API, and is given none: ${formatScope(named)}`;
  const others = formatScope(scope.filter((name) => !isAdminScope(name)));
  const fix = `postern clients update ${client_id} --scope "${others}"; if it is an operator's: --may-administer`;
  return [warning(message, fix)];
}

/** A resource that says it knows them: no token for it has them. */
export function borrowed({ resource, scope }: Resource): Finding[] {
  const named = scope.filter(isAdminScope);
  if (named.length === 0) return [];
  const message = `${resource}: lists scopes of the admin API, which no token for it has: ${formatScope(named)}`;
  return [
    warning(
      message,
      `give them other names there: postern scopes put …, postern resources put ${resource} --scope "…"`,
    ),
  ];
}

/** A built-in scope that is older than its meaning here. */
export function redefined(scope: Scope): Finding[] {
  const built_in = builtInScope(scope.name);
  const { name, for_people, for_machines, claims } = scope;
  if (
    !built_in ||
    (built_in.for_people === for_people && built_in.for_machines === for_machines && claims.length === 0)
  ) {
    return [];
  }
  const wanted = built_in.for_people ? '--people --no-machines' : '--no-people --machines';
  return [
    warning(`the scope ${name} is not what the server means by it`, `postern scopes put ${name} ${wanted} --claims ""`),
  ];
}
