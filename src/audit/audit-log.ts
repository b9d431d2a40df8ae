import type { Context } from '../context.js'
import { failureMessage } from '../model/errors.js'
import type { AuditedChange, AuditTrail, ChangeOrigin } from '../model/people/audit.js'
import { cleanText } from '../model/text.js'
import { withTimeout } from '../model/with-timeout.js'
import { AUDIT_ENTRIES } from '../store/bulk/bulk-targets.js'

/** Parts of the context needed to write entries. */
type AuditParts = Pick<Context, 'database' | 'redactor' | 'counters' | 'log' | 'now'>

/** Column widths. */
const MAX_NAME_LENGTH = 255
const MAX_ADDRESS_LENGTH = 64
const MAX_DETAIL_LENGTH = 500

/** Short, because the same database has just committed the change. */
const WRITE_TIMEOUT_MS = 5000

interface CollectedChange extends AuditedChange {
  /** Actor in the input of the command. */
  inputActor: string | undefined
}

/** Returns a trail that writes each change immediately. */
export function createAuditTrail(parts: AuditParts, origin: ChangeOrigin): AuditTrail {
  return { add: (change, inputActor) => writeEntries(parts, origin, [{ ...change, inputActor }]) }
}

/**
 * Runs an action and records its changes with this origin. Identical changes are combined into one entry with a count,
 * because a bulk action runs its command once per batch. Changes before a failure are recorded too.
 */
export async function runAs<T>(
  context: Context,
  origin: ChangeOrigin,
  action: (context: Context) => Promise<T>,
): Promise<T> {
  const changes: CollectedChange[] = []
  const audit: AuditTrail = {
    async add(change, inputActor) {
      const existing = changes.find((other) => isSameBulkChange(other, change))
      if (existing) Object.assign(existing, { count: (existing.count ?? 0) + (change.count ?? 0), error_id: undefined })
      else changes.push({ ...change, inputActor })
    },
  }
  try {
    return await action({ ...context, audit })
  } finally {
    await writeEntries(context, origin, changes)
  }
}

function isSameBulkChange(a: AuditedChange, b: AuditedChange): boolean {
  const isBulk = a.count !== undefined && b.count !== undefined
  return isBulk && a.action === b.action && a.target === b.target && a.detail === b.detail
}

/** Writes the changes made by commands. No other function writes to the audit table. */
async function writeEntries(
  { database, redactor, counters, log, now }: AuditParts,
  origin: ChangeOrigin,
  changes: readonly CollectedChange[],
): Promise<void> {
  if (changes.length === 0) return
  const bounded = (text: string | null | undefined, max: number) =>
    text === null || text === undefined ? null : cleanText(text, max)
  const safe = (text: string | undefined, max: number) => bounded(text && redactor.text(text), max)
  try {
    const rows = changes.map(({ action, error_id, target, count, detail, inputActor }) => [
      now(),
      bounded(origin.actor ?? inputActor ?? 'system', MAX_NAME_LENGTH),
      origin.kind,
      bounded(origin.address, MAX_ADDRESS_LENGTH),
      action,
      error_id ?? null,
      safe(target, MAX_NAME_LENGTH),
      count ?? null,
      safe(detailWithName(detail, origin), MAX_DETAIL_LENGTH),
    ])
    const written = database.write((trx) => database.dialect.insertMany(trx, AUDIT_ENTRIES, rows))
    await withTimeout(written, WRITE_TIMEOUT_MS)
  } catch (error) {
    // The change is already committed. Failing now would only make the client retry it.
    counters.add('audit_failed', changes.length)
    log.warn(`Could not write the audit entry for ${changes[0]?.action}: ${failureMessage(error)}`)
  }
}

function detailWithName(detail: string | undefined, { actor, entered_name }: ChangeOrigin): string | undefined {
  if (!entered_name || entered_name === actor) return detail
  return [detail, `as ${entered_name}`].filter(Boolean).join(', ')
}
