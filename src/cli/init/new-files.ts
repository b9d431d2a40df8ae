import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Host } from './host.js'

export interface NewFile {
  readonly path: string
  readonly lines: readonly string[]
  readonly exists: boolean
}

/** The files that `init` creates. An existing file is never changed. */
export function newFiles(host: Host, dashboardPath: string): NewFile[] {
  const config = `faultboard.config.${host.usesTypescript ? 'ts' : 'mjs'}`
  return [
    { path: config, lines: configLines(host), exists: hasConfigFile(host) },
    {
      path: '.env.example',
      lines: [
        `# Credentials for ${dashboardPath}. The dashboard cannot be mounted without them.`,
        'FAULTBOARD_DASHBOARD_USERNAME=admin',
        'FAULTBOARD_DASHBOARD_PASSWORD=',
      ],
      exists: existsSync(join(host.folder, '.env.example')),
    },
  ]
}

/** Fails instead of overwriting a file that was created after the check. */
export function createFile(folder: string, { path, lines }: NewFile): void {
  writeFileSync(join(folder, path), `${lines.join('\n')}\n`, { flag: 'wx' })
}

function configLines({ name, usesTypescript }: Host): string[] {
  const database = "  database: process.env.FAULTBOARD_DATABASE ?? 'sqlite:faultboard.sqlite3',"
  return [
    ...(usesTypescript ? ["import type { Settings } from 'faultboard'", ''] : []),
    '// Options for the faultboard command. To share them with the application, import this file there',
    '// and pass it to Tracker.configure. Credentials come from the environment, see .env.example.',
    'export default {',
    ...(name === null ? [] : [`  application_name: ${JSON.stringify(name)},`]),
    database,
    usesTypescript ? '} satisfies Settings' : '}',
  ]
}

function hasConfigFile({ folder }: Host): boolean {
  return ['ts', 'js', 'mjs'].some((extension) => existsSync(join(folder, `faultboard.config.${extension}`)))
}
