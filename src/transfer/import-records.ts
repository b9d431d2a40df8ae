import type { Context } from '../context.js'
import { TrackerError } from '../model/errors.js'
import { isRefusal } from '../store/recording/record-batch.js'
import { addApplication } from './add-application.js'
import { addError } from './add-error.js'
import { addMore } from './add-more.js'
import { readRecord } from './read-record.js'

/** A line of a file, counted from 1. */
export interface Line {
  number: number
  /** Null where it could not be read. */
  text: string | null
  /** Why it could not. */
  why?: string
}

export interface Rejection {
  line: number
  reason: string
}

export interface ImportInput {
  lines: AsyncIterable<Line>
  /** Told of every line that is not taken. */
  reject?: (rejection: Rejection, line: Line) => void | Promise<void>
}

export interface Imported {
  /** Errors that were not here. */
  created: number
  /** Errors that were here from elsewhere, to which the counts were added. */
  added: number
  /** Errors that are here from the same database already. */
  known: number
  /** The same, but they have changed there since: they stay as they are here. */
  outdated: number
  /** Occurrences that are counted now and were not before. */
  occurrences: number
  rejected: number
}

/**
 * Adds what `exportRecords` gave, a line at a time and each in a transaction of its own. A line that was imported
 * before, or comes from this very database, changes nothing. What a line does not say rightly is handed to `reject`.
 */
export async function importRecords(
  context: Context,
  lines: AsyncIterable<Line>,
  reject: NonNullable<ImportInput['reject']>,
): Promise<Imported> {
  const imported: Imported = { created: 0, added: 0, known: 0, outdated: 0, occurrences: 0, rejected: 0 }
  for await (const line of lines) {
    if (line.text?.trim() === '') continue
    const reason = await take(context, line, imported)
    if (reason === null) continue
    imported.rejected++
    await reject({ line: line.number, reason }, line)
  }
  return imported
}

/** Null, or why the line is not taken. */
async function take(
  context: Context,
  { text, why = 'it cannot be read' }: Line,
  imported: Imported,
): Promise<string | null> {
  try {
    if (text === null) return why
    const record = readRecord(text)
    if (record.kind === 'application') await addApplication(context, record)
    else if (record.kind === 'more') await addMore(context, record)
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
    // Anything else is trouble with the database, which would meet every line alike.
    if (error instanceof TrackerError || !isRefusal(context.database, error)) throw error
    return `the database does not take it: ${error instanceof Error ? error.message : String(error)}`
  }
}
