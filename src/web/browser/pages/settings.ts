import { read, Refusal, write } from '../api.ts'
import { tags } from '../dom.ts'
import { address } from '../here.ts'
import { Listing } from '../listing.ts'
import { signInLink } from '../parts/account.ts'
import { tokenField } from '../parts/token-field.ts'
import { faultsOf, settingsAt, type Foreseen, type Setting } from '../settings/catalogue.ts'
import { Confirmation } from '../settings/confirmation.ts'
import { History } from '../settings/history.ts'
import { SettingRow } from '../settings/row.ts'

const { a, button, footer, input, label, p, strong } = tags

const onlyAltered = input({ id: 'altered', type: 'checkbox', onchange: () => listing.narrow() })
const listing = new Listing<SettingRow>({
  kind: 'setting',
  sectionKind: 'section',
  examples: 'sign-up, throttle, artifacts',
  isShown: (row, isFound) =>
    (isFound && (!onlyAltered.checked || row.isAltered)) || row.isChanged || row.isRefused,
})
const confirmation = new Confirmation(saved, mark)
const history = new History((proposal) => void confirmation.foresee(proposal))
const count = strong({ role: 'status' })
const review = button({ type: 'button', className: 'main', onclick: reviewChanges }, 'Review and save')
const discard = button({ type: 'button', onclick: () => changed().forEach((row) => row.reset()) }, 'Discard')
const bar = footer({ className: 'bar changes', hidden: true }, count, review, discard)

listing.draw({
  title: 'Settings of this instance',
  about: [
    p(
      'What you save counts at once, on every node. Every change is kept with who made it, and can be ',
      a({ href: '#history', onclick: () => (history.view.open = true) }, 'taken back'),
      '. The ',
      a({ href: `${address`/-/api`}#putApplicationSettings` }, 'API'),
      ' does the same.',
    ),
  ],
  fields: [
    label({ className: 'choice' }, onlyAltered, ' Not as by default'),
    tokenField('of an administrator, or sign in', () => void start()),
  ],
  below: [history.view],
})
document.body.append(bar, confirmation.view)
confirmation.view.addEventListener('close', () => listing.rows.find((row) => row.isRefused)?.focus())
addEventListener('beforeunload', (event) => {
  if (changed().length > 0) event.preventDefault()
})
await start()

async function start(): Promise<void> {
  history.view.hidden = true
  try {
    const [catalogue, values] = await Promise.all([
      read<Setting[]>(`${settingsAt}/catalogue`),
      read<Record<string, unknown>>(settingsAt),
    ])
    const rows = catalogue
      .filter(({ included }) => included)
      .map((setting) => new SettingRow(setting, values[setting.name], tellChanges))
    listing.show(Map.groupBy(rows, ({ setting }) => setting.section))
    history.view.hidden = false
  } catch (error) {
    tellRefusal(error)
  }
  tellChanges()
}

function tellRefusal(error: unknown): void {
  const status = error instanceof Refusal ? error.status : undefined
  if (status !== 401 && status !== 403) listing.tell((error as Error).message)
  else {
    listing.tell(
      status === 403 && 'Settings are for administrators. ',
      signInLink('Sign in as an administrator'),
      ', or give the token of one above.',
    )
  }
}

function changed(): SettingRow[] {
  return listing.rows.filter((row) => row.isChanged)
}

function tellChanges(): void {
  const { length } = changed()
  bar.hidden = length === 0
  review.hidden = discard.hidden = false
  count.textContent = `${length} ${length === 1 ? 'change' : 'changes'}, not saved`
}

/** Says so until something else is touched. */
async function saved(): Promise<void> {
  history.view.open = false
  await start()
  bar.hidden = false
  review.hidden = discard.hidden = true
  count.textContent = 'Saved'
}

function reviewChanges(): void {
  let values: Readonly<Record<string, unknown>>
  try {
    values = Object.fromEntries(rowsToSend().map((row) => [row.name, row.read()]))
  } catch (error) {
    confirmation.refuse('This cannot be sent', error)
    return
  }
  void confirmation.foresee({
    question: 'Save these changes?',
    label: 'Save',
    send: (options) => write('PUT', settingsAt, { ...values, ...options }),
    offer: letIn,
  })
}

/** What has changed, and what has to be sent with it, though it is as it was. */
function rowsToSend(): SettingRow[] {
  const turnedOn = changed().filter((row) => row.read() === true)
  const along = new Set(turnedOn.flatMap(({ setting }) => setting.companions))
  return listing.rows.filter((row) => row.isChanged || (row.isKnown && along.has(row.name)))
}

/** Who waits for an approval that is needed no more would go on to wait. */
function letIn(changes: readonly Foreseen[]): readonly [option: string, words: string] | undefined {
  const endsApproval = changes.some(
    ({ name, to }) => name === 'require_admin_approval_after_user_signup' && to === false,
  )
  return endsApproval ? ['auto_approve_pending_users', 'Let in who waits for approval'] : undefined
}

/** Says beside each setting why it was refused. */
function mark(error: unknown): void {
  const faults = faultsOf(error instanceof Refusal ? error.answer : undefined)
  for (const row of listing.rows) row.refuse(faults.get(row.name) ?? '')
  listing.narrow()
}
