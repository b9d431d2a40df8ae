import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { TrackerError } from '../model/errors.js'
import { type CanonicalSettings, type Settings, toCanonicalSettings } from '../options.js'

const FILE_NAMES = ['faultboard.config.ts', 'faultboard.config.js', 'faultboard.config.mjs']

/** The requested file, or the file in the working directory, or null. */
export function findConfigFile(requested: string | undefined): string | null {
  if (requested === undefined) return FILE_NAMES.map((name) => resolve(name)).find((file) => existsSync(file)) ?? null
  const file = resolve(requested)
  if (!existsSync(file)) throw configFileError(`Configuration file ${file} not found. Check --config`)
  if (statSync(file).isDirectory()) throw configFileError(`${file} is a folder. Specify the configuration file in it`)
  return file
}

/** Settings of a configuration file: its default export, or the values that its default function sets. */
export async function readConfigFile(file: string): Promise<CanonicalSettings> {
  const exported = await runHostCode(file, () => load(file))
  if (typeof exported !== 'function') {
    if (isPlainObject(exported)) return toCanonicalSettings({ ...exported })
    throw configFileError(
      `${file} exports no settings: its default export must be an object with options or a function (config) => void`,
    )
  }
  const config: Settings = {}
  const returned = await runHostCode(file, () => exported(config))
  if (isPlainObject(returned) && returned !== config) {
    throw configFileError(
      `The function in ${file} returns an object, which sets nothing: set options on the config it receives, or export the object itself`,
    )
  }
  return toCanonicalSettings(config)
}

/** TypeScript is loaded by Node.js if supported, else by jiti. */
async function load(file: string): Promise<unknown> {
  if (/\.[cm]?ts$/.test(file) && !(process.features as { typescript?: unknown }).typescript) {
    const { createJiti } = await import('jiti')
    return createJiti(import.meta.url, { fsCache: false }).import(file, { default: true })
  }
  return ((await import(pathToFileURL(file).href)) as { default?: unknown }).default
}

/** The file is host code: failures are reported with its name. */
async function runHostCode<T>(file: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause)
    throw new TrackerError('configuration_invalid', `The configuration file ${file} failed with ${reason}`, { cause })
  }
}

function configFileError(message: string): TrackerError {
  return new TrackerError('configuration_invalid', `${message}.`)
}

/** jiti evaluates the file in another realm with its own `Object.prototype`. */
function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Promise) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
