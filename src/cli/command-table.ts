import type { Command } from './command.js'

/** All commands, loaded on demand. */
export const COMMANDS: Record<string, () => Promise<Command>> = {
  demo: async () => (await import('./commands/demo.js')).demo,
  init: async () => (await import('./commands/init.js')).init,
  serve: async () => (await import('./commands/serve.js')).serve,
  migrate: async () => (await import('./commands/migrate.js')).migrate,
  check: async () => (await import('./commands/check.js')).check,
  prove: async () => (await import('./commands/prove.js')).prove,
  errors: async () => (await import('./commands/errors.js')).errors,
  cleanup: async () => (await import('./commands/cleanup.js')).cleanup,
  notify: async () => (await import('./commands/notify.js')).notify,
  work: async () => (await import('./commands/work.js')).work,
  'hash-password': async () => (await import('./commands/hash-password.js')).hashPassword,
  'token create': async () => (await import('./tokens/create.js')).createToken,
  'token list': async () => (await import('./tokens/list.js')).listTokens,
  'token revoke': async () => (await import('./tokens/revoke.js')).revokeToken,
  dump: async () => (await import('./commands/dump.js')).dump,
  'sourcemaps upload': async () => (await import('./sourcemaps/upload.js')).uploadSourceMaps,
  'sourcemaps list': async () => (await import('./sourcemaps/list.js')).listSourceMaps,
  'sourcemaps delete': async () => (await import('./sourcemaps/delete.js')).deleteSourceMaps,
  export: async () => (await import('./commands/export.js')).exportCommand,
  import: async () => (await import('./commands/import.js')).importCommand,
  move: async () => (await import('./commands/move.js')).move,
  mcp: async () => (await import('./commands/mcp.js')).mcp,
  completion: async () => (await import('./commands/completion.js')).completion(() => loadCommands('')),
}

/** Loads the commands whose name starts with the prefix. */
export function loadCommands(prefix: string): Promise<Command[]> {
  const names = Object.entries(COMMANDS).filter(([name]) => name.startsWith(prefix))
  return Promise.all(names.map(([, load]) => load()))
}
