import { start } from './client.js'

/** For pages without a bundler: `<script src="/faultboard.js"></script>` defines only this global. */
;(window as unknown as Record<string, unknown>).Faultboard = { start }
