import { randomUUID } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BareWriter } from './bare-writer.mjs'
import { CONNECT } from './connections.mjs'
import { toLogErrorInput } from './events.mjs'
import { foldRows } from './rows.mjs'

/**
 * Does the unavoidable part of a tracker, as a lower bound: creates, reads and signs each error, folds the errors into
 * rows, and writes the rows with the bare driver. The batch id makes a retry safe. With `journal`, a file contains each
 * batch until the commit. Omits redaction, severity, reopening, retries and notifications.
 */
export async function startMinimalTracker(dialect, url, { journal = false } = {}) {
  const connection = await CONNECT[dialect](url)
  const writer = new BareWriter(connection)
  await writer.open()
  const folder = journal ? await mkdtemp(join(tmpdir(), 'faultboard-bench-journal-')) : null
  return {
    async log(events, perCommit) {
      for (let from = 0; from < events.length; from += perCommit) {
        const records = events.slice(from, from + perCommit).map((event) => toRecord(toLogErrorInput(event)))
        const batch_id = randomUUID()
        const batch = foldRows(records, Date.now())
        const file = folder && join(folder, batch_id)
        if (file) await writeJournalFile(file, batch.groups.map(journalEntry))
        await writer.write(batch, batch_id)
        if (file) await rm(file)
      }
    },
    async close() {
      await connection.close()
      if (folder) await rm(folder, { recursive: true })
    },
  }
}

/** Performs the file operations of the spool, which does not sync either. */
export async function writeJournalFile(file, content) {
  await writeFile(`${file}.tmp`, JSON.stringify(content), { mode: 0o600 })
  await rename(`${file}.tmp`, file)
}

/** The sums can be derived from the occurrences. */
function journalEntry({ error_type, message, payload, occurrences }) {
  return { error_type, message, payload, occurrences }
}

function toRecord({ exception, ...details }) {
  return { error_type: exception.name, message: exception.message, stack: exception.stack, ...details }
}
