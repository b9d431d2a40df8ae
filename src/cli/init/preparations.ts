import { namesOf } from './code-style.js'
import type { SourceFile } from './source-file.js'

/** A statement that has to run before the tracker starts. */
export interface Preparation {
  readonly end: number
  /** Whether it runs where it stands, and not when a function is called. */
  readonly is_at_once: boolean
}

const ENVIRONMENT_PACKAGE = /['"]([@\w./-]*dotenv[\w./-]*)['"]/g

/** What reads the environment from a file, and what gives the tracker its options. */
export function preparations(file: SourceFile): Preparation[] {
  const calls = preparingCalls(file)
  return file.statements.flatMap(({ text, masked, end }) => {
    const places = calls.map((call) => text.search(call)).filter((place) => place >= 0 && masked[place] !== '_')
    if (places.length === 0) return []
    const above = masked.slice(0, Math.max(...places))
    return [{ end, is_at_once: !/=>|(?<![\w$.])(function|class)(?![\w$])/.test(above) }]
  })
}

function preparingCalls(file: SourceFile): RegExp[] {
  const packages = file.statements.flatMap(({ text }) =>
    [...text.matchAll(ENVIRONMENT_PACKAGE)].map(([, name]) => name),
  )
  const imported = packages.flatMap((name) => Object.values(namesOf(file, name ?? '')))
  const trackers = Object.values(namesOf(file, 'faultboard')).map((name) => `${name}.configure`)
  return [
    /(?<![\w$])loadEnvFile\(/,
    /(?<![\w$.])\w*dotenv\w*\.config\(/i,
    /(?<![\w$.])require\(['"][^'"]*dotenv[^'"]*(\/config['"]\)|['"]\)\s*\.\w+\()/,
    ...[...imported, ...trackers].map(
      (name) => new RegExp(`(?<![\\w$.])${name.replace(/[$.]/g, '\\$&')}(\\s*\\.\\s*\\w+)*\\(`),
    ),
  ]
}
