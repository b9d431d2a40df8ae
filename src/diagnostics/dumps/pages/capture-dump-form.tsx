import { readOptions } from '../../../config/options.js'
import type { Rendered, Visit } from '../../../dashboard/define.js'
import { ActionForm, SelectField } from '../../../dashboard/ui/forms.js'
import { Menu } from '../../../dashboard/ui/menu.js'
import { MAX_NOTE_LENGTH } from '../capture-dump.js'
import { dumpOptions } from '../options.js'

const PROFILE_OPTIONS = [
  ['0', 'No CPU profile'],
  ['1000', 'CPU profile, 1 second'],
  ['5000', 'CPU profile, 5 seconds'],
  ['30000', 'CPU profile, 30 seconds'],
] as const

/** Menu with the options of a new dump and their costs. */
export function CaptureDumpForm({ visit }: { visit: Visit }): Rendered {
  return (
    <Menu label="Capture dump" primary>
      <ActionForm visit={visit} to="/errors/diagnostic_dumps" submit="Capture" primary>
        <label>
          <span>Note (optional)</span>
          <textarea name="note" rows={3} maxlength={MAX_NOTE_LENGTH} />
        </label>
        <SelectField name="cpu_profile_ms" label="Profile" options={PROFILE_OPTIONS} value="0" />
        <label class="check">
          <input type="checkbox" name="report" value="true" />
          <span>Include the Node.js diagnostic report</span>
        </label>
        {readOptions(visit.diagnosticOptions, dumpOptions).enable_heap_snapshots ? (
          <>
            <label class="check">
              <input type="checkbox" name="heap_snapshot" value="true" />
              <span>Include a heap snapshot</span>
            </label>
            <p class="muted meta">
              A heap snapshot blocks the process and all its requests for one to two seconds per 30 MB of heap. It
              contains every secret in memory.
            </p>
          </>
        ) : (
          <p class="muted meta">
            Heap snapshots require the option <code>enable_heap_snapshots</code>.
          </p>
        )}
      </ActionForm>
    </Menu>
  )
}
