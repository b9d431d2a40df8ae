import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readText } from './source-file.js'

/** The folders of the packages below the root of several, by what npm, yarn or pnpm are told of them. */
export function workspaceFolders(root: string, declared: unknown): string[] {
  const { packages = declared } = (declared ?? {}) as { packages?: unknown }
  const told = Array.isArray(packages) ? packages.filter((one) => typeof one === 'string') : []
  const folders = [...told, ...pnpmPatterns(root)].flatMap((pattern) => matching(root, pattern))
  return [...new Set(folders)].filter((folder) => existsSync(join(root, folder, 'package.json'))).sort()
}

/** The lists of the file, of which only folders with a package.json count. */
function pnpmPatterns(root: string): string[] {
  const text = readText(root, 'pnpm-workspace.yaml') ?? ''
  return [...text.matchAll(/^\s*-\s*['"]?([^\s'"#!]+)/gm)].map((match) => match[1] ?? '')
}

/** What begins with ! leaves packages out, and matches none here. */
function matching(root: string, pattern: string): string[] {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.includes('..')) return []
  return parts.reduce<string[]>(
    (folders, part) =>
      folders.flatMap((folder) =>
        /^\*+$/.test(part) ? foldersIn(root, folder).map((name) => join(folder, name)) : [join(folder, part)],
      ),
    [''],
  )
}

function foldersIn(root: string, folder: string): string[] {
  const path = join(root, folder)
  if (!existsSync(path)) return []
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !/^(node_modules$|\.)/.test(entry.name))
    .map(({ name }) => name)
}
