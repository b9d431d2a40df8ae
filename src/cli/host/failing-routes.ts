import { cp, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { findProject } from '../../config/project.js'

export interface FailingRoute {
  /** Link to the route, with a query if it should show up in the error. */
  link: string
  text: string
  /** Breadcrumbs of the route before it fails. */
  steps: readonly (readonly [category: string, message: string])[]
  run(): unknown
}

const ROUTES_FOLDER = join(findProject(fileURLToPath(import.meta.url)).root, 'demo/serve')

/** Copies the routes outside node_modules, because files in node_modules count as libraries and have no source. */
export async function copyFailingRoutes(folder: string): Promise<string> {
  const copy = join(await realpath(folder), 'routes')
  await cp(ROUTES_FOLDER, copy, { recursive: true })
  return copy
}

export async function loadFailingRoutes(folder = ROUTES_FOLDER): Promise<readonly FailingRoute[]> {
  return (await import(pathToFileURL(join(folder, 'failing-routes.mjs')).href)).FAILING_ROUTES
}
