import { start } from './client.js'

/** For pages without a bundler: `<script src="/faultboard.js"></script>` makes this one name and no other. */
;(window as unknown as Record<string, unknown>).Faultboard = { start }
