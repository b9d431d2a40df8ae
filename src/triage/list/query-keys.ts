import type { Context } from '../../context.js'
import { normalizePlatform } from '../../model/requests/platform.js'
import { type IsValue, parseQuery, type QueryTerm } from '../../model/search-query.js'
import { PRIORITIES } from '../../model/workflow.js'
import { type Expression, type RawBuilder, type SqlBool, sql } from '../../store/kysely.js'
import { hasRegressed } from '../../store/sql/regressed.js'
import { withoutIndex } from '../../store/sql/sort-order.js'
import { affectsUser, type ErrorsExpression, seenInVersion, seenOnPlatform } from './occurrence-conditions.js'
import { hasTag, type TagRows, termCondition } from './tag-conditions.js'

/** Checks whether the query contains a key that has a condition in this file. */
export function hasQueryKeys(query: string | undefined): boolean {
  return query !== undefined && parseQuery(query).some(({ key }) => key in CONDITIONS)
}

/** Conditions for the keys of a query, except keys that search-text.ts handles. */
export function queryKeyConditions(eb: ErrorsExpression, query: string, scope: Scope): Expression<SqlBool>[] {
  return parseQuery(query).flatMap(({ key, parts, isNegated }) => {
    const matches = CONDITIONS[key]?.(eb, parts, scope)
    return matches ? [isNegated ? eb.not(matches) : matches] : []
  })
}

interface Scope {
  context: Context
  application_id: number | undefined
  tagRows: TagRows
}

type Condition = (eb: ErrorsExpression, parts: readonly string[], scope: Scope) => Expression<SqlBool>

const CONDITIONS: { readonly [Key in QueryTerm['key']]?: Condition } = {
  is: (eb, [value], { context }) => IS_CONDITIONS[value as IsValue](eb, context.now()),
  user: (eb, parts) => affectsUser(eb, parts.join('*')),
  platform: (eb, parts, { context }) =>
    seenOnPlatform(eb, context.database.dialect, normalizePlatform(parts.join('*'))),
  environment: (eb, parts, { context }) =>
    eb(withoutIndex<string>(context.database.dialect, 'faultboard_errors.environment'), '=', parts.join('*')),
  release: (eb, [app_version = '', ...wildcards], { context, application_id }) =>
    seenInVersion(eb, context.database.dialect, {
      app_version,
      application_id,
      match: wildcards.length > 0 ? 'prefix' : 'segments',
    }),
  tag: (eb, parts, { context, tagRows }) => hasTag(eb, context.database.dialect, termCondition(parts), tagRows),
  type: (_eb, parts) => isLike('faultboard_errors.error_type', parts),
  severity: (eb, [value]) => sql<boolean>`${eb.ref('faultboard_errors.severity')} = ${value}`,
  priority: (eb, [value]) =>
    eb(
      'faultboard_errors.priority_level',
      '=',
      PRIORITIES.findIndex((name) => name === value),
    ),
  assigned: (eb, parts) =>
    eb.and([
      // Needed for the negation, because a comparison with null is null.
      eb('faultboard_errors.assigned_to', 'is not', null),
      eb('faultboard_errors.assigned_to', '=', parts.join('*')),
    ]),
  app: (eb, parts) =>
    eb(
      'faultboard_errors.application_id',
      'in',
      eb
        .selectFrom('faultboard_applications')
        .select('faultboard_applications.id')
        .where(isLike('faultboard_applications.name', parts)),
    ),
}

/** Case-insensitive comparison. Any text can occur between the parts. */
function isLike(column: string, parts: readonly string[]): RawBuilder<boolean> {
  const pattern = parts.map((part) => part.toLowerCase().replace(/[!%_]/g, '!$&')).join('%')
  return sql<boolean>`lower(${sql.ref(column)}) like ${pattern} escape '!'`
}

const IS_CONDITIONS: Record<IsValue, (eb: ErrorsExpression, now: number) => Expression<SqlBool>> = {
  unresolved: isOpen,
  resolved: (eb) => eb('faultboard_errors.resolved', '=', 1),
  new: (eb) => eb('faultboard_errors.status', '=', 'new'),
  investigating: (eb) => eb('faultboard_errors.status', '=', 'investigating'),
  in_progress: (eb) => eb('faultboard_errors.status', '=', 'in_progress'),
  wont_fix: (eb) => eb('faultboard_errors.status', '=', 'wont_fix'),
  // Null is replaced, because the negation of a comparison with null is null.
  snoozed: (eb, now) => eb.and([isOpen(eb), sql<boolean>`coalesce(faultboard_errors.snoozed_until, 0) > ${now}`]),
  muted: (eb, now) =>
    eb.and([
      eb('faultboard_errors.muted_at', 'is not', null),
      eb.or([eb('faultboard_errors.muted_until', 'is', null), eb('faultboard_errors.muted_until', '>', now)]),
    ]),
  assigned: (eb) => eb('faultboard_errors.assigned_to', 'is not', null),
  unassigned: (eb) => eb('faultboard_errors.assigned_to', 'is', null),
  regressed: (eb) => eb.and([isOpen(eb), hasRegressed(eb)]),
}

function isOpen(eb: ErrorsExpression): Expression<SqlBool> {
  return eb('faultboard_errors.resolved', '=', 0)
}
