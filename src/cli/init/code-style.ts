import type { LineEdit } from './file-change.js'
import type { SourceFile } from './source-file.js'

/** How a file writes what is added to it. */
export interface CodeStyle {
  readonly quote: string
  readonly semicolon: string
  readonly is_commonjs: boolean
}

const IMPORT = /^import\b(?!\s*\()/
const REQUIRE = /\brequire\(/

export function styleOf({ path, source, statements }: SourceFile): CodeStyle {
  const quoted = statements.filter(({ masked }) => IMPORT.test(masked) || REQUIRE.test(masked))
  const doubles = quoted.filter(({ text }) => text.includes('"')).length
  // Functions, classes and blocks have no semicolon in any style.
  const endable = statements.filter(({ masked }) => !masked.endsWith('}'))
  const ended = endable.filter(({ masked }) => masked.endsWith(';')).length
  const isModule =
    /\.m[jt]s$/.test(path) || statements.some(({ masked }) => IMPORT.test(masked) || /^export\b/.test(masked))
  return {
    quote: doubles * 2 > quoted.length ? '"' : "'",
    semicolon: ended * 2 > endable.length ? ';' : '',
    is_commonjs: !isModule && (REQUIRE.test(source) || path.endsWith('.cjs')),
  }
}

/** What a line that is put before `line` ends in: a bracket below it would make one statement of both. */
export function endingAt(file: SourceFile, line: number): string {
  const below = (file.masked ?? '').split('\n').slice(line).join('\n').trimStart()
  return /^[([`/+-]/.test(below) ? ';' : styleOf(file).semicolon
}

/** The names under which things are imported: their own, or others where the file has a use for those already. */
export function importedAs(names: readonly string[], { masked }: SourceFile): Record<string, string> {
  const isTaken = (name: string) => new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(masked ?? '')
  const capital = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}`
  const others = (name: string) => [
    name,
    ...(name.startsWith('faultboard') ? ['errorTracker'] : []),
    ...['', 'Own', 'Ours'].map((end) => `faultboard${capital(name)}${end}`),
  ]
  return Object.fromEntries(names.map((name) => [name, others(name).find((one) => !isTaken(one)) ?? name]))
}

/** The line that imports them, after the other imports and before `latest`. */
export function importEdit(
  file: SourceFile,
  { names, from, latest }: { names: Readonly<Record<string, string>>; from: string; latest: number },
): LineEdit {
  const { quote, is_commonjs } = styleOf(file)
  const list = Object.entries(names).map(([name, as]) =>
    name === as ? name : `${name}${is_commonjs ? ':' : ' as'} ${as}`,
  )
  const source = `${quote}${from}${quote}`
  const line = Math.min(endOfImports(file, is_commonjs), latest)
  const text = is_commonjs
    ? `const { ${list.join(', ')} } = require(${source})`
    : `import { ${list.join(', ')} } from ${source}`
  return { line, remove: 0, insert: [`${text}${endingAt(file, line)}`] }
}

/** The line after the imports that a file begins with. */
function endOfImports({ source, statements }: SourceFile, is_commonjs: boolean): number {
  let end = /^\uFEFF?#!/.test(source) ? 1 : 0
  for (const statement of statements) {
    if (is_commonjs ? REQUIRE.test(statement.masked) : IMPORT.test(statement.masked)) end = statement.end
    else if (!/^['"]_*['"];?$/.test(statement.masked)) break
    // A directive such as 'use strict' has to stay first.
    else end = statement.end
  }
  return end
}

/** What a file calls a package: `default` for the whole of it, and the names it takes out of it. */
export function namesOf({ statements }: SourceFile, packageName: string): Record<string, string> {
  const quoted = `['"]${packageName.replace(/[/.]/g, '\\$&')}['"]`
  const patterns = [
    new RegExp(`^import\\s+(?!type\\b)([^;]+?)\\s+from\\s+${quoted}`),
    new RegExp(`^import\\s+(\\w+)\\s*=\\s*require\\(${quoted}\\)`),
    new RegExp(`^(?:const|let|var)\\s+([^=;]+?)\\s*=\\s*require\\(${quoted}\\)(?:\\.default)?;?$`),
  ]
  const names: Record<string, string> = {}
  for (const { text } of statements) {
    const clause = patterns.map((pattern) => pattern.exec(text)?.[1]).find((found) => found !== undefined)
    if (clause === undefined) continue
    const [, whole] = /^(?:\*\s*as\s+)?([\w$]+)/.exec(clause) ?? []
    if (whole) names.default = whole
    for (const part of /\{([^}]*)\}/.exec(clause)?.[1]?.split(',') ?? []) {
      const [, name, as] = /^\s*([\w$]+)(?:\s*(?:as|:)\s*([\w$]+))?\s*$/.exec(part) ?? []
      if (name) names[name] = as ?? name
    }
  }
  return names
}
