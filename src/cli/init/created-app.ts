import { endingAt } from './code-style.js'
import type { LineEdit } from './file-change.js'
import { closingOf } from './masked-source.js'
import { preparations } from './preparations.js'
import type { SourceFile } from './source-file.js'
import type { Statement } from './statements.js'

/** An application that is made by one statement at the top level, `const app = express()`. */
export interface CreatedApp {
  /** What the file calls it. */
  readonly name: string
  readonly statement: Statement
}

/**
 * The one such statement of a file, by how the right side begins: a call of what the file has imported, or of the package
 * as it is required. null where there is none, or more than one, or where it goes on after the call in a way that is not
 * understood, such as a chain of routes.
 */
export function createdApp(
  { statements, masked: all }: SourceFile,
  call: string | undefined,
  packageName: string,
): CreatedApp | null {
  const required = `require\\((['"])_{${packageName.length}}\\2\\)`
  const pattern = new RegExp(
    `^(?:export\\s+)?(?:const|let|var)\\s+([\\w$]+)(?:\\s*:[^=]+)?\\s*=\\s*(?:${call === undefined ? required : `${required}|${call}`})(?:<[^()]*>)?\\(`,
  )
  const found = statements.flatMap((statement) => {
    const match = pattern.exec(statement.masked)
    if (!match || (match[2] && !statement.text.includes(`(${match[2]}${packageName}${match[2]})`))) return []
    const end = closingOf(statement.masked, match[0].length - 1)
    const rest = statement.masked.slice(end + 1).trim()
    return end > 0 && /^(\.withTypeProvider<\w+>\(\))?;?$/.test(rest) ? [{ name: match[1] ?? '', statement }] : []
  })
  const [app, ...others] = found
  return app && others.length === 0 && !isMadeAnew(all ?? '', app.name) ? app : null
}

/** Whether a name is given a value more than once: then it is not sure whose routes are whose. */
function isMadeAnew(masked: string, name: string): boolean {
  return [...masked.matchAll(new RegExp(`${named(name)}\\s*=(?![=>])`, 'g'))].length > 1
}

/** What a file calls the application it makes, wherever that is; null for none or several. */
export function nameOfApp({ masked }: SourceFile, call: string): string | null {
  const pattern = new RegExp(
    `(?<![\\w$.])([\\w$]+)(?:\\s*:[^=;(]+)?\\s*=\\s*(?:await\\s+)?${call}(?:<[^()]*>)?\\(`,
    'g',
  )
  const [name, ...others] = [...(masked ?? '').matchAll(pattern)].map((match) => match[1])
  return name !== undefined && others.length === 0 ? name : null
}

/**
 * Where what has to come first goes: after the application, and after what the tracker is configured by. null where that
 * comes at a time that is not sure, or only when the application has been used.
 */
export function firstPlace(file: SourceFile, { name, statement }: CreatedApp): number | null {
  const needed = preparations(file)
  if (needed.some(({ is_at_once }) => !is_at_once)) return null
  const place = Math.max(statement.end, ...needed.map(({ end }) => end))
  const between = file.statements.filter(({ start, end }) => start >= statement.end && end <= place)
  return between.some(({ masked }) => new RegExp(named(name)).test(masked)) ? null : place
}

export function insertion(file: SourceFile, line: number, call: string): LineEdit {
  return { line, remove: 0, insert: [`${call}${endingAt(file, line)}`] }
}

/** A name of the file as a pattern: whole, and not a property. */
export function named(name: string): string {
  return `(?<![\\w$.])${name.replace(/\$/g, '\\$')}(?![\\w$])`
}
