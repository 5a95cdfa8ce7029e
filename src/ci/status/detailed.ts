import type { Status } from '../types.ts'
import { failureReasons } from './failure-reasons.ts'

/** The part of `detailed_status` that follows from the status alone; paths and rights are the caller's. */
export interface DetailedStatus {
  icon: string
  text: string
  label: string
  /** Stable across versions, unlike `text`. */
  group: string
  tooltip: string
  /** Name of the picture, without path and ending. */
  favicon: string
}

type Look = [text: string, label: string, group: string, icon: string, favicon: string]

const looks: Record<Status, Look> = {
  created: ['Created', 'created', 'created', 'created', 'created'],
  waiting_for_resource: ['Waiting', 'waiting for resource', 'waiting-for-resource', 'pending', 'pending'],
  waiting_for_callback: ['Waiting', 'waiting for callback', 'waiting-for-callback', 'pending', 'pending'],
  preparing: ['Preparing', 'preparing', 'preparing', 'preparing', 'preparing'],
  pending: ['Pending', 'pending', 'pending', 'pending', 'pending'],
  running: ['Running', 'running', 'running', 'running', 'running'],
  success: ['Passed', 'passed', 'success', 'success', 'success'],
  failed: ['Failed', 'failed', 'failed', 'failed', 'failed'],
  canceling: ['Canceling', 'canceling', 'canceling', 'canceled', 'canceled'],
  canceled: ['Canceled', 'canceled', 'canceled', 'canceled', 'canceled'],
  skipped: ['Skipped', 'skipped', 'skipped', 'skipped', 'skipped'],
  manual: ['Blocked', 'waiting for manual action', 'manual', 'manual', 'manual'],
  scheduled: ['Delayed', 'waiting for delayed job', 'scheduled', 'scheduled', 'scheduled'],
}

const withWarnings: Look = ['Warning', 'passed with warnings', 'success-with-warnings', 'warning', 'success']
const allowedFailure: Look = [
  'Failed',
  'failed (allowed to fail)',
  'failed-with-warnings',
  'warning',
  'failed',
]

/** `warnings`: some failure was allowed. A pipeline that is being canceled is shown as running. */
export function pipelineDetailedStatus(status: Status, warnings: boolean): DetailedStatus {
  if (status === 'success' && warnings) return detailed(withWarnings)
  return detailed(looks[status === 'canceling' ? 'running' : status])
}

/** What a job's appearance depends on. */
export interface JobFacts {
  status: Status
  allowFailure: boolean
  failureReason?: string | null
  /** A newer job of the same name exists. */
  retried?: boolean
  /** It stops an environment. */
  stops?: boolean
  /** Whether the viewer may start it; only manual jobs show it. */
  playable?: boolean
  /** Seconds until a delayed job starts. */
  startsIn?: number | null
}

/** As the pages and the API show a job; the tooltip adds the reason of a failure, or the time of a delay. */
export function jobDetailedStatus(job: JobFacts): DetailedStatus {
  const { status, allowFailure, retried = false } = job
  const shown = detailed(lookOfJob(job))
  let { tooltip } = shown
  if (status === 'failed') {
    const reason = failureText(job.failureReason ?? 'unknown_failure')
    tooltip = `Failed - (${reason})${allowFailure ? ' (allowed to fail)' : ''}`
  } else if (status === 'scheduled') tooltip = `delayed manual action (${clock(job.startsIn ?? 0)})`
  return { ...shown, tooltip: retried ? `${tooltip} (retried)` : tooltip }
}

function lookOfJob({ status, allowFailure, stops = false, playable = true }: JobFacts): Look {
  if (status === 'failed' && allowFailure) return allowedFailure
  if (status === 'scheduled') return ['Scheduled', 'unschedule action', 'scheduled', 'scheduled', 'scheduled']
  if (status !== 'manual') return looks[status]
  const label = `manual ${stops ? 'stop' : 'play'} action${playable ? '' : ' (not allowed)'}`
  return ['Manual', label, 'manual', 'manual', 'manual']
}

function detailed([text, label, group, icon, favicon]: Look): DetailedStatus {
  return { icon: `status_${icon}`, text, label, group, tooltip: label, favicon: `favicon_status_${favicon}` }
}

/** What people read for a failure reason; one that is not known reads as it is. */
export function failureText(reason: string): string {
  return Object.hasOwn(failureReasons, reason)
    ? failureReasons[reason as keyof typeof failureReasons]
    : reason
}

/** HH:MM:SS */
function clock(seconds: number): string {
  const left = Math.max(0, Math.floor(seconds))
  const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60]
  return parts.map((part) => String(part).padStart(2, '0')).join(':')
}
