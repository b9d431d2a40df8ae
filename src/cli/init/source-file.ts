import { isUtf8 } from 'node:buffer'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mask } from './masked-source.js'
import { type Statement, statementsOf } from './statements.js'

/** A file of the host as far as it is understood; without `masked` it is not. */
export interface SourceFile {
  readonly path: string
  readonly source: string
  readonly masked: string | null
  readonly statements: readonly Statement[]
}

const MAX_BYTES = 1_000_000

export function readText(folder: string, path: string): string | null {
  const file = join(folder, path)
  return existsSync(file) && statSync(file).isFile() ? readFileSync(file, 'utf8') : null
}

export function readSource(folder: string, path: string): SourceFile | null {
  const source = readText(folder, path)
  if (source === null || source.length > MAX_BYTES) return null
  const masked = isRewritable(folder, path) ? mask(source) : null
  return { path, source, masked, statements: masked === null ? [] : statementsOf(source, masked) }
}

/** The files beside it that a file imports, as it names them. */
export function specifiersOf({ statements }: SourceFile): string[] {
  return statements.flatMap(({ text }) =>
    [...text.matchAll(/(?:from|import|require\()\s*['"](\.{1,2}\/[^'"]+)['"]/g)].map((match) => match[1] ?? ''),
  )
}

/** Whether a file can be written back as it is: what is no UTF-8 would come out as something else. */
export function isRewritable(folder: string, path: string): boolean {
  return isUtf8(readFileSync(join(folder, path)))
}
