import { readOptions } from '../../../config/options.js'
import type { Rendered, Visit } from '../../../dashboard/define.js'
import { ActionForm, SelectField } from '../../../dashboard/ui/forms.js'
import { Menu } from '../../../dashboard/ui/menu.js'
import { NOTE_LIMIT } from '../capture-dump.js'
import { dumpOptions } from '../options.js'

const PROFILES = [
  ['0', 'No CPU profile'],
  ['1000', 'CPU profile of 1 second'],
  ['5000', 'CPU profile of 5 seconds'],
  ['30000', 'CPU profile of 30 seconds'],
] as const

/** What a dump may hold beside itself, and what that costs the process. */
export function CaptureDumpForm({ visit }: { visit: Visit }): Rendered {
  return (
    <Menu label="Capture a dump" primary>
      <ActionForm visit={visit} to="/errors/diagnostic_dumps" submit="Capture now" primary>
        <label>
          <span>Note (optional)</span>
          <textarea name="note" rows={3} maxlength={NOTE_LIMIT} />
        </label>
        <SelectField name="cpu_profile_ms" label="Profile" options={PROFILES} value="0" />
        <label class="check">
          <input type="checkbox" name="report" value="true" />
          <span>With the report of Node.js</span>
        </label>
        {readOptions(visit.diagnosticOptions, dumpOptions).enable_heap_snapshots ? (
          <>
            <label class="check">
              <input type="checkbox" name="heap_snapshot" value="true" />
              <span>With a heap snapshot</span>
            </label>
            <p class="muted meta">
              A heap snapshot stops the process, with all its requests, for one to two seconds for every 30 MB of its
              heap, and holds every secret that is in memory.
            </p>
          </>
        ) : (
          <p class="muted meta">
            Heap snapshots need the option <code>enable_heap_snapshots</code>.
          </p>
        )}
      </ActionForm>
    </Menu>
  )
}
