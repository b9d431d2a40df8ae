import { randomUUID } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { CommandFailed } from '../command.js'

interface Text {
  readonly file: string
  readonly text: string
}

/** Each file has its old text or its new one, whole: all are written beside before the first takes its name. */
export function replaceAll(texts: readonly Text[]): void {
  const written: { partial: string; whole: string }[] = []
  try {
    for (const { file, text } of texts) {
      // What a link leads to is changed, not the link.
      const whole = existsSync(file) ? realpathSync(file) : file
      mkdirSync(dirname(whole), { recursive: true })
      const partial = `${whole}.${randomUUID()}.partial`
      written.push({ partial, whole })
      writeFileSync(partial, text)
      if (existsSync(whole)) chmodSync(partial, statSync(whole).mode)
    }
  } catch (error) {
    for (const { partial } of written) rmSync(partial, { force: true })
    throw new CommandFailed(
      `Nothing was written: ${(error as Error).message}. Is there room, and may this user write there?`,
    )
  }
  for (const { partial, whole } of written) renameSync(partial, whole)
}
