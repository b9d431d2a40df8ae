import { counted } from './diagnostics/counted.mjs'
import { measuredProcess } from './diagnostics/process.mjs'
import { source } from './diagnostics/source.mjs'
import { swallowed } from './diagnostics/swallowed.mjs'
import { variables } from './diagnostics/variables.mjs'

/** One line per part of the diagnostics: each yields tables of what it costs, while it is off too. */
const PARTS = [variables, source, counted, measuredProcess, swallowed]

/** What the deep diagnostics cost, per exception and for code that does not throw. */
export async function* diagnostics(options) {
  for (const part of PARTS) yield* part(options)
}
