import type { DashboardPart, Endpoint, Routes } from '../dashboard/define.js'
import { createRoutes } from '../dashboard/routes.js'
import type { Diagnostic } from './define.js'

const known = new WeakMap<readonly Diagnostic[], Promise<Routes>>()

/** Loads the endpoints of the dashboard and of the given diagnostics, once per list. */
export function loadRoutes(diagnostics: readonly Diagnostic[]): Promise<Routes> {
  let routes = known.get(diagnostics)
  if (!routes) {
    routes = Promise.all(diagnostics.map(loadPart)).then((parts) => createRoutes(parts.filter((part) => part !== null)))
    known.set(diagnostics, routes)
  }
  return routes
}

/** Adds the options that turn a diagnostic on to each of its endpoints. Its data does not depend on errors. */
async function loadPart({ needs, page }: Diagnostic): Promise<DashboardPart | null> {
  if (!page) return null
  const { pages, downloads = [], actions = [], navigation } = await page()
  const withNeeds = <One extends Endpoint>(endpoint: One): One => ({ ...endpoint, needs })
  return {
    pages: pages.map((page) => ({ ...withNeeds(page), acceptsAnyEnvironment: true })),
    downloads: downloads.map(withNeeds),
    actions: actions.map(withNeeds),
    navigation,
  }
}
