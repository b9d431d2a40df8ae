import { type FileChange, inOrder, type LineEdit } from './file-change.js'

const CONTEXT = 3

/** A change as a unified diff, which `git apply` and `patch -p1` take. */
export function unifiedDiff(change: FileChange): string[] {
  const { path, before } = change
  const old = before === null || before === '' ? [] : before.replace(/\r?\n$/, '').split(/\r?\n/)
  const head = [before === null ? '--- /dev/null' : `--- a/${path}`, `+++ b/${path}`]
  let grown = 0
  const hunks = hunksOf(inOrder(change.edits)).flatMap((edits) => {
    const { lines, start, removed, added } = hunk(old, edits)
    const from = removed === 0 ? start : start + 1
    const to = added === 0 ? start + grown : start + grown + 1
    grown += added - removed
    return [`@@ -${from},${removed} +${to},${added} @@`, ...lines]
  })
  return [...head, ...hunks]
}

/** The same for eyes, in the colours that everybody knows. */
export function coloured(lines: readonly string[]): string[] {
  return lines.map((line) => {
    if (/^(---|\+\+\+) /.test(line)) return `\u001b[1m${line}\u001b[0m`
    if (line.startsWith('@@')) return `\u001b[36m${line}\u001b[0m`
    if (line.startsWith('+')) return `\u001b[32m${line}\u001b[0m`
    return line.startsWith('-') ? `\u001b[31m${line}\u001b[0m` : line
  })
}

/** Edits that are near enough to share their context. */
function hunksOf(edits: readonly LineEdit[]): LineEdit[][] {
  const hunks: LineEdit[][] = []
  for (const edit of edits) {
    const last = hunks.at(-1)?.at(-1)
    if (last && edit.line - (last.line + last.remove) <= 2 * CONTEXT) hunks.at(-1)?.push(edit)
    else hunks.push([edit])
  }
  return hunks
}

function hunk(old: readonly string[], edits: readonly LineEdit[]) {
  const [first] = edits
  const last = edits.at(-1)
  const start = Math.max(0, (first?.line ?? 0) - CONTEXT)
  const end = Math.min(old.length, (last ? last.line + last.remove : 0) + CONTEXT)
  const lines: string[] = []
  let at = start
  for (const { line, remove, insert } of edits) {
    lines.push(...old.slice(at, line).map((one) => ` ${one}`))
    lines.push(...old.slice(line, line + remove).map((one) => `-${one}`))
    lines.push(...insert.map((one) => `+${one}`))
    at = line + remove
  }
  lines.push(...old.slice(at, end).map((one) => ` ${one}`))
  const count = (mark: string) => lines.filter((line) => line.startsWith(mark)).length
  return { lines, start, removed: count(' ') + count('-'), added: count(' ') + count('+') }
}
