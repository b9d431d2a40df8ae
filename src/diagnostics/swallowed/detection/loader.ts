import type { LoaderData } from './hooks.js'
import { Instrument, type LoadedModule } from './marking/instrument.js'

/*
 * Runs in the loader thread that Node.js below 22.15 uses for ES modules.
 */
let instrument: Instrument | null = null

export function initialize({ root, ownFolder, port }: LoaderData): void {
  port.unref()
  instrument = new Instrument({
    root,
    ownFolder,
    onMarked: (file, lines, isMapped) => port.postMessage({ file, lines, isMapped }),
    onUnreadable: (file) => port.postMessage({ unreadable: file }),
  })
}

export async function load(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<LoadedModule>,
): Promise<object> {
  const loaded = await next(url, context)
  // The main thread loads and marks everything else.
  const marked = loaded.format === 'module' ? instrument?.markModule({ ...loaded, url }) : null
  return marked ? { ...loaded, ...marked } : loaded
}
