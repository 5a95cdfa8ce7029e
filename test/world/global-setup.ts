/** Runs once before all suites. */
export default function setup(): void {
  process.env['TZ'] = 'UTC'
}
