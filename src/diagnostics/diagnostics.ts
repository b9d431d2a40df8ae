import type { CollectorSetup, Diagnostic, TrackerAccess } from './define.js'
import { deprecationWarnings } from './deprecations/diagnostic.js'
import { dumps } from './dumps/diagnostic.js'
import { nPlusOne } from './n-plus-one/diagnostic.js'
import { processes } from './processes/diagnostic.js'
import { requestGuard } from './request-guard/diagnostic.js'
import { source } from './source/diagnostic.js'
import { sourceMaps } from './source-maps/diagnostic.js'
import { swallowed } from './swallowed/diagnostic.js'
import { variables } from './variables/diagnostic.js'

/** All diagnostics, in the order of their tabs. */
export const DIAGNOSTICS = [
  variables,
  processes,
  dumps,
  nPlusOne,
  deprecationWarnings,
  swallowed,
  requestGuard,
  source,
  sourceMaps,
] as const

/** Starts the collectors of all diagnostics that are on. Returns the function that stops them. */
export function startCollectors(diagnostics: readonly Diagnostic[], setup: CollectorSetup): () => void {
  const { config } = setup.context
  const stops = diagnostics
    .filter((diagnostic) => diagnostic.collect && isCollecting(diagnostic, config))
    .map((diagnostic) => diagnostic.collect?.(setup))
  return () => {
    for (const stop of stops.reverse()) stop?.()
  }
}

function isCollecting({ needs, collectsWith }: Diagnostic, config: CollectorSetup['context']['config']): boolean {
  return collectsWith ? collectsWith(config) : needs.every((name) => config[name as keyof typeof config])
}

/** The cleanup functions of all diagnostics. */
export function collectRetention(diagnostics: readonly Diagnostic[]): NonNullable<Diagnostic['retention']>[] {
  return diagnostics.flatMap(({ retention }) => (retention ? [retention] : []))
}

type DiagnosticOperations<One, Kind extends 'commands' | 'queries'> = One extends { readonly [K in Kind]: infer Table }
  ? Table
  : never

// biome-ignore lint/suspicious/noExplicitAny: the type of a function parameter turns a union into an intersection.
export type Intersection<Union> = (Union extends any ? (one: Union) => void : never) extends (all: infer All) => void
  ? All
  : never

/** The commands or queries of all diagnostics in one table. */
export function collectOperations<const List extends readonly Diagnostic[], Kind extends 'commands' | 'queries'>(
  diagnostics: List,
  kind: Kind,
): Intersection<DiagnosticOperations<List[number], Kind>> {
  return Object.assign({}, ...diagnostics.map((diagnostic) => diagnostic[kind] ?? {}))
}

type ApiOf<One> = One extends { api(tracker: TrackerAccess): infer Api } ? Api : never

/** Members that the diagnostics add to a tracker. */
export type DiagnosticApi = Intersection<ApiOf<(typeof DIAGNOSTICS)[number]>>

/** The members that all diagnostics add to a tracker. */
export function apiOf(diagnostics: readonly Diagnostic[], tracker: TrackerAccess): object {
  return Object.assign({}, ...diagnostics.map(({ api }) => api?.(tracker)))
}

/** The options of all diagnostics in one table. */
export function collectOptions<const List extends readonly Diagnostic[]>(
  diagnostics: List,
): Intersection<List[number]['options']> {
  return Object.assign({}, ...diagnostics.map(({ options }) => options))
}
