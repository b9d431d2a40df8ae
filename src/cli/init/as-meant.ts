import { parse } from 'acorn'
import { changedText, type FileChange, type LineEdit } from './file-change.js'
import { mask } from './masked-source.js'
import { statementsOf } from './statements.js'

/**
 * Whether a file would have the same statements as before, and the added lines among them: one that ended up in a comment,
 * or in the middle of a statement, shows itself here.
 */
export function isAsMeant(change: FileChange): boolean {
  const { path, before, edits } = change
  const source = changedText(change)
  return before !== null && isParsable(path, source) && keepsStatements(before, source, edits)
}

function keepsStatements(before: string, after: string, edits: readonly LineEdit[]): boolean {
  const [own, all] = [textsOf(before), textsOf(after)]
  const added = edits.filter(({ remove }) => remove === 0).flatMap(({ insert }) => insert.filter((line) => line !== ''))
  for (const line of added) {
    const at = all.indexOf(line)
    if (at === -1) return false
    all.splice(at, 1)
  }
  const isReplacing = edits.some(({ remove }) => remove > 0)
  return isReplacing ? all.length === own.length : all.join('\n') === own.join('\n')
}

function textsOf(source: string): string[] {
  const masked = mask(source)
  return masked === null ? [] : statementsOf(source, masked).map(({ text }) => text)
}

/** TypeScript is not read here: what is added to it is the same JavaScript. */
function isParsable(path: string, source: string): boolean {
  if (!/\.[cm]?js$/.test(path)) return true
  const code = source.replace(/^\uFEFF/, '')
  return (['module', 'commonjs'] as const).some((sourceType) => {
    try {
      return parse(code, { ecmaVersion: 'latest', allowHashBang: true, sourceType }) !== null
    } catch {
      // The other kind of module, or none that could be started.
      return false
    }
  })
}
