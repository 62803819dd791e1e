-- What wrk sends: the load described in a table (first argument), its values one a line in a file (second argument).
local threads = {}

function setup(thread)
  table.insert(threads, thread)
end

local load, template, queue, head, tail
lost, dry, odd = 0, 0, 0

local function fill(shot, value)
  if not shot.holds_value then return shot.ready end
  local replacement = value:gsub('%%', '%%%%')
  local headers = {}
  for name, text in pairs(shot.headers) do headers[name] = text:gsub('{}', replacement) end
  return wrk.format(shot.method, (shot.path:gsub('{}', replacement)), headers, shot.body and (shot.body:gsub('{}', replacement)))
end

local function prepare(shot)
  shot.headers = shot.headers or {}
  local texts = shot.path .. (shot.body or '')
  for _, text in pairs(shot.headers) do texts = texts .. text end
  shot.holds_value = texts:find('{}', 1, true) ~= nil
  if not shot.holds_value then shot.ready = wrk.format(shot.method, shot.path, shot.headers, shot.body) end
  return shot
end

local function found(text, after, before)
  if not text then return nil end
  local _, last = text:find(after, 1, true)
  if not last then return nil end
  local stop = text:find(before, last + 1, true)
  return text:sub(last + 1, stop and stop - 1 or -1)
end

local sources = {
  location = function(headers) return headers['location'] or headers['Location'] end,
  body = function(_, body) return body end,
}

local function answered(status, headers, body)
  for _, follow in ipairs(load.follow) do
    local value = found(sources[follow.source](headers, body), follow.after, follow.before)
    if value then
      queue[tail] = { follow.shot, value }
      tail = tail + 1
      return
    end
  end
  lost = lost + 1
end

function init(args)
  load = dofile(args[1])
  prepare(load.shot)
  if args[2] then
    queue, head, tail = {}, 1, 1
    for line in io.lines(args[2]) do
      queue[tail] = { load.shot, line }
      tail = tail + 1
    end
  end
  if load.follow then
    for _, follow in ipairs(load.follow) do prepare(follow.shot) end
    response = answered
  end
end

function request()
  if not queue then return load.shot.ready end
  local entry = queue[head]
  if not entry then
    dry = dry + 1
    wrk.thread:stop()
    return wrk.format('GET', '/')
  end
  queue[head] = nil
  head = head + 1
  return fill(entry[1], entry[2])
end

function done(summary, latency, requests)
  local lost_in_all, dry_in_all = 0, 0
  for _, thread in ipairs(threads) do
    lost_in_all = lost_in_all + thread:get('lost')
    dry_in_all = dry_in_all + thread:get('dry')
  end
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests":%d,"seconds":%f,"p50":%f,"p95":%f,"p99":%f,"status":%d,"socket":%d,"timeout":%d,"lost":%d,"dry":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(95) / 1e3,
    latency:percentile(99) / 1e3, errors.status, errors.connect + errors.read + errors.write, errors.timeout,
    lost_in_all, dry_in_all
  ))
end
