import type { LineEdit } from './file-change.js'
import type { SourceFile } from './host.js'
import { closingOf, type Statement } from './masked-source.js'

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
  { statements }: SourceFile,
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
  return found.length === 1 ? (found[0] ?? null) : null
}

/** Where what has to come first goes: after the application, and after what reads the environment from a file. */
export function firstPlace({ statements }: SourceFile, { statement }: CreatedApp): number {
  const environment = statements.filter(({ masked }) => /\b(dotenv\w*\.config|loadEnvFile)\(/.test(masked))
  return Math.max(statement.end, ...environment.map(({ end }) => end))
}

export function insertion(line: number, ...insert: string[]): LineEdit {
  return { line, remove: 0, insert }
}

/** A name of the file as a pattern: whole, and not a property. */
export function named(name: string): string {
  return `(?<![\\w$.])${name.replace(/\$/g, '\\$')}(?![\\w$])`
}
