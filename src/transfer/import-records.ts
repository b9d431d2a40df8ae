import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { isRefusal } from '../store/recording/refusal.js'
import { addApplication } from './add-application.js'
import { addError } from './add-error.js'
import { addErrorPart } from './add-more.js'
import { readRecord } from './read-record.js'

/** A line of a file, numbered from 1. */
export interface Line {
  number: number
  /** Null if the line could not be read. */
  text: string | null
  /** Reason why the line could not be read. */
  reason?: string
}

export interface Rejection {
  line: number
  reason: string
}

export interface ImportInput {
  lines: AsyncIterable<Line>
  /** Called with every rejected line. */
  reject?: (rejection: Rejection, line: Line) => void | Promise<void>
}

export interface ImportResult {
  /** New errors. */
  created: number
  /** Existing errors to which counts were added. */
  added: number
  /** Errors that were already imported. */
  known: number
  /** Errors that changed in the source database after their import. They were not updated. */
  outdated: number
  /** Newly counted occurrences. */
  occurrences: number
  rejected: number
}

/**
 * Imports lines of `exportRecords`, each in its own transaction. A line that was imported before, or was exported from
 * this database, changes nothing. Invalid lines are passed to `reject`.
 */
export async function importRecords(
  context: Context,
  lines: AsyncIterable<Line>,
  reject: NonNullable<ImportInput['reject']>,
): Promise<ImportResult> {
  const imported: ImportResult = { created: 0, added: 0, known: 0, outdated: 0, occurrences: 0, rejected: 0 }
  for await (const line of lines) {
    if (line.text?.trim() === '') continue
    const reason = await importLine(context, line, imported)
    if (reason === null) continue
    imported.rejected++
    await reject({ line: line.number, reason }, line)
  }
  return imported
}

/** Returns null, or the reason for rejecting the line. */
async function importLine(
  context: Context,
  { text, reason = 'cannot be read' }: Line,
  imported: ImportResult,
): Promise<string | null> {
  try {
    if (text === null) return reason
    const record = readRecord(text)
    if (record.kind === 'application') await addApplication(context, record)
    else if (record.kind === 'more') await addErrorPart(context, record)
    else {
      const outcome = await addError(context, record)
      imported[outcome]++
      if (outcome === 'created' || outcome === 'added') imported.occurrences += record.error.occurrence_count
    }
    return null
  } catch (error) {
    if (error instanceof TrackerError && ['invalid_input', 'not_found'].includes(error.code)) {
      return error.message
    }
    // Any other failure is a database problem that would affect every line.
    if (error instanceof TrackerError || !isRefusal(context.database, error)) throw error
    return `rejected by the database: ${error instanceof Error ? error.message : String(error)}`
  }
}
