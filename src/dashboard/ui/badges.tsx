import type { Severity } from '../../model/severity/severity.js'
import { PRIORITIES, type Status } from '../../model/workflow.js'
import type { Rendered } from '../define.js'

export function SeverityBadge({ severity }: { severity: Severity }): Rendered {
  return <span class={`badge severity-${severity}`}>{severity}</span>
}

export function StatusBadge({ status }: { status: Status }): Rendered {
  return <span class={`badge status-${status}`}>{formatIdentifier(status)}</span>
}

export function PriorityBadge({ level }: { level: number }): Rendered {
  return level === 0 ? null : <span class="badge priority">{`priority ${PRIORITIES[level] ?? level}`}</span>
}

/** Badge of a regressed error. Empty if the error did not regress, or regressed in the release that resolved it. */
export function RegressionBadge({ version }: { version: string | null }): Rendered {
  if (version === null) return null
  const text = `regression in ${version}`
  return (
    <span class="badge regression" title={text}>
      <bdi>{text}</bdi>
    </span>
  )
}

/** Formats an identifier such as `in_progress` as words. */
export function formatIdentifier(name: string): string {
  return name === 'wont_fix' ? "won't fix" : name.replaceAll('_', ' ')
}

export function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
