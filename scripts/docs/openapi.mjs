import { readFileSync } from 'node:fs'

/** Renders docs/openapi.json from the table of endpoints. */
export function openapi({ openApiDocument, allRoutes, OPTIONS }) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  return `${JSON.stringify(openApiDocument({ base: OPTIONS.mount_path.default, version, routes: allRoutes }), null, 2)}\n`
}
