import { readFileSync } from 'node:fs'

/** docs/openapi.json, from the table of endpoints. */
export function openapi({ openApiDocument, OPTIONS }) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  return `${JSON.stringify(openApiDocument({ base: OPTIONS.mount_path.default, version }), null, 2)}\n`
}
