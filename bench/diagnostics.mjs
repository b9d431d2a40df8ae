import { counted } from './diagnostics/counted.mjs'
import { measuredProcess } from './diagnostics/process.mjs'
import { source } from './diagnostics/source.mjs'
import { swallowed } from './diagnostics/swallowed.mjs'
import { variables } from './diagnostics/variables.mjs'

/** One suite per diagnostic. Each yields tables with its cost, on and off. */
const PARTS = [variables, source, counted, measuredProcess, swallowed]

/** Measures the cost of diagnostics, per exception and for code that does not throw. */
export async function* diagnostics(options) {
  for (const part of PARTS) yield* part(options)
}
