/** Lines that take the place of others; with nothing to remove they go before `line`. */
export interface LineEdit {
  /** From 0, in the file as it is. */
  readonly line: number
  readonly remove: number
  readonly insert: readonly string[]
}

/** What becomes of one file. The diff that is shown and the text that is written both come from `edits`. */
export interface FileChange {
  /** Relative to the folder of the host. */
  readonly path: string
  /** Its text, or null where there is no such file yet. */
  readonly before: string | null
  readonly edits: readonly LineEdit[]
}

export function newFile(path: string, lines: readonly string[]): FileChange {
  return { path, before: null, edits: [{ line: 0, remove: 0, insert: lines }] }
}

/** The text with the edits made, in the line ends that it has. */
export function changedText({ before, edits }: FileChange): string {
  if (before === null) return `${edits.flatMap(({ insert }) => insert).join('\n')}\n`
  const lines = before.split('\n')
  const end = before.includes('\r\n') ? '\r' : ''
  for (const { line, remove, insert } of inOrder(edits).reverse()) {
    lines.splice(line, remove, ...insert.map((one) => `${one}${end}`))
  }
  return lines.join('\n')
}

/** By their lines; those of one line in the order in which they were named. */
export function inOrder(edits: readonly LineEdit[]): LineEdit[] {
  return [...edits].sort((a, b) => a.line - b.line)
}
