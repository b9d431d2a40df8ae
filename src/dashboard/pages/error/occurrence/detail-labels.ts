import { capitalize, formatIdentifier } from '../../../ui/badges.js'
import { fromEntries } from './facts.js'

/** Labels of details whose keys are abbreviations or unclear. */
const LABELS: Readonly<Record<string, string>> = {
  ...{ hostname: 'Host', pid: 'Process ID', node_version: 'Node.js' },
  ...{ source: 'Captured by', errno: 'Error number', syscall: 'System call', statusCode: 'HTTP status' },
  ...{ event_id: 'Event ID', claimed_timestamp: 'Client timestamp', client_count: 'Count on the client' },
}

const SOURCES: Readonly<Record<string, string>> = {
  node: 'Node.js HTTP server',
  reporting: 'Client, reporting endpoint',
  sentry: 'Client, Sentry SDK',
}

/** Replaces the keys of recorded details with labels. */
export function withLabels(details: object): Record<string, unknown> {
  return fromEntries(
    Object.entries(details).map(([key, value]) => [
      (Object.hasOwn(LABELS, key) && LABELS[key]) || capitalize(formatIdentifier(key)),
      labeledValue(key, value),
    ]),
  )
}

function labeledValue(key: string, value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (key !== 'source' || typeof value !== 'string') return value
  return Object.hasOwn(SOURCES, value) ? SOURCES[value] : capitalize(formatIdentifier(value))
}
