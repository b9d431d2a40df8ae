import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** One test of a contract. `run` rejects with an AssertionError if the implementation violates the contract. */
export interface ContractCase {
  readonly title: string
  run(): Promise<void>
}

export const CREDENTIALS = { dashboard_username: 'admin', dashboard_password: 'contract-password' }

/** Generous, because test machines are slow and busy. */
const MAX_WAIT_MS = 30_000
const POLL_MS = 20

/** Polls until the condition holds. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, description: string): Promise<void> {
  const deadline = Date.now() + MAX_WAIT_MS
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Timed out waiting until ${description}`)
    await sleep(POLL_MS)
  }
}

/** Runs a test with a SQLite file that is removed afterward. */
export async function withTemporaryDatabase(run: (database: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'faultboard-contract-'))
  try {
    await run(`sqlite:${join(folder, 'errors.sqlite3')}`)
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}
