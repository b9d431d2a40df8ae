import type { Context } from '../../context.js'
import { installationId } from '../../jobs/installation.js'

const MARK_LENGTH = 8

/**
 * A message's key as its receiver sees it. Ids are counted in every database, and staging and production may tell the
 * same receiver of their error 1.
 */
export async function sentKeys(context: Context): Promise<(key: string) => string> {
  const mark = (await installationId(context)).slice(0, MARK_LENGTH)
  return (key) => `${mark}:${key}`
}
