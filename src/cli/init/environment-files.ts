import { execFileSync } from 'node:child_process'
import { type FileChange, newFile } from './file-change.js'
import { isRewritable, readText } from './source-file.js'

/** Says what has to be set, without a value that somebody could leave as it is, and keeps the database out of git. */
export function environmentFiles(folder: string, dashboard_path: string): FileChange[] {
  const variables = variablesFor(dashboard_path)
  const example = readText(folder, '.env.example')
  const ignored = readText(folder, '.gitignore')
  const changes = [
    ...(example === null ? [newFile('.env.example', variables)] : appended('.env.example', example, variables)),
    ...(ignored === null ? [] : appended('.gitignore', ignored, ['faultboard.sqlite3*'])),
  ]
  return changes.filter(({ path, before }) => before === null || isRewritable(folder, path))
}

/** Which of these files have changes that git does not know of. */
export function uncommitted(folder: string, paths: readonly string[]): string[] {
  if (paths.length === 0) return []
  try {
    const words = ['-c', 'core.fsmonitor=false', 'status', '--porcelain', '--', ...paths]
    const told = execFileSync('git', words, { cwd: folder, encoding: 'utf8', stdio: 'pipe', timeout: 5000 })
    return told.split('\n').flatMap((line) => line.slice(3) || [])
  } catch {
    // No git, or no repository: then there is nothing to warn of.
    return []
  }
}

function variablesFor(dashboard_path: string): string[] {
  return [
    `# Who may open ${dashboard_path}. The application does not start without both.`,
    'FAULTBOARD_DASHBOARD_USERNAME=admin',
    'FAULTBOARD_DASHBOARD_PASSWORD=',
  ]
}

function appended(path: string, before: string, lines: readonly string[]): FileChange[] {
  if (before.includes(lines.at(-1) ?? '')) return []
  const all = before.split('\n')
  const isEnded = all.at(-1) === ''
  return [{ path, before, edits: [{ line: isEnded ? all.length - 1 : all.length, remove: 0, insert: lines }] }]
}
