// The receiver of a video call: libwebrtc, unmodified, without a screen. It answers call.js in the
// place of sounding-rtc-peer.
//
//     node answer.js --socket PATH --log FILE
//
// It waits for a connection to the socket that makes an offer, and ends with this connection. It
// hears nothing of any modem: when packets came it asks the kernel (SIOCGSTAMP). The log has lines
// of JSON: {"frame":{…}} for each picture that it shows, with the number that call.js --numbered
// wrote into it, and {"received":{…}} every 100 ms.

import { createWriteStream, existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import wrtc from '@roamhq/wrtc';
import { numberOf } from './picture.js';

const { values } = parseArgs({
  options: {
    socket: { type: 'string' },
    log: { type: 'string' },
    'at-most': { type: 'string', default: '600' },
  },
});
if (!values.socket) throw new Error('--socket is needed');
if (existsSync(values.socket)) throw new Error(`${values.socket} is there already`);

const LONGEST = 256 << 10;
const log = values.log ? createWriteStream(values.log) : undefined;
const note = (line) => log?.write(JSON.stringify(line) + '\n');
const now = () => Number(process.hrtime.bigint());

let connection, speak, sink, timer;
let frames = 0;
let received = {};

function fail(error) {
  process.stderr.write(`answer: ${error.message ?? error}\n`);
  process.exit(1);
}

function show({ frame }) {
  frames += 1;
  note({ frame: { shown_ns: now(), number: numberOf(frame), width: frame.width, height: frame.height } });
}

/** What the receiver's stack says of the pictures. Absent is what it does not report. */
async function stats() {
  const all = [...(await connection.getStats()).values()];
  const video = all.find(({ type, kind }) => type === 'inbound-rtp' && kind === 'video') ?? {};
  const track = all.find(({ type, kind, remoteSource }) => type === 'track' && kind === 'video' && remoteSource) ?? {};
  received = {
    at_ns: now(),
    bytes: video.bytesReceived,
    packets_lost: video.packetsLost,
    frames_decoded: video.framesDecoded,
    frames_dropped: video.framesDropped,
    frames_per_sec: video.framesPerSecond,
    frame_height: video.frameHeight,
    buffered_s: video.jitterBufferDelay,
    buffered: video.jitterBufferEmittedCount,
    freezes: video.freezeCount ?? track.freezeCount,
    frozen_s: video.totalFreezesDuration ?? track.totalFreezesDuration,
  };
  note({ received });
}

async function answer({ sdp }) {
  connection = new wrtc.RTCPeerConnection();
  connection.ontrack = ({ track }) => {
    sink = new wrtc.nonstandard.RTCVideoSink(track);
    sink.onframe = show;
  };
  connection.onconnectionstatechange = () => {
    if (connection.connectionState === 'connected' && !timer) {
      speak({ connected: {} });
      timer = setInterval(() => stats().catch(fail), 100);
    }
  };
  await connection.setRemoteDescription({ type: 'offer', sdp });
  await connection.setLocalDescription(await connection.createAnswer());
  if (connection.iceGatheringState !== 'complete') {
    await new Promise((resolve) => {
      connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && resolve();
    });
  }
  speak({ answer: { type: 'answer', sdp: connection.localDescription.sdp } });
}

async function end() {
  server.close();
  clearInterval(timer);
  if (connection) {
    await stats();
    sink?.stop();
    connection.close();
  }
  const { freezes, frozen_s, frames_dropped, packets_lost, buffered_s, buffered } = received;
  const summary = {
    frames,
    freezes,
    frozen_ms: frozen_s === undefined ? undefined : frozen_s * 1000,
    frames_dropped,
    packets_lost,
    buffered_ms: buffered > 0 ? (buffered_s / buffered) * 1000 : undefined,
  };
  note({ summary });
  speak?.({ summary });
  await new Promise((resolve) => (log ? log.end(resolve) : resolve()));
  // libwebrtc's threads would keep the process; the answer needs a moment to leave.
  setTimeout(() => process.exit(0), 100);
}

const server = createServer((stream) => {
  const say = (line) => stream.write(JSON.stringify(line) + '\n');
  let isCaller = false;
  let before = 0;
  stream.on('error', () => {});
  stream.on('data', (data) => {
    // A line without an end would take memory.
    before = data.includes(10) ? 0 : before + data.length;
    if (before > LONGEST) stream.destroy();
  });
  stream.on('close', () => isCaller && end().catch(fail));
  createInterface({ input: stream }).on('line', (text) => {
    let line;
    try {
      line = JSON.parse(text);
    } catch {
      return;
    }
    if (line.offer && !connection) {
      [isCaller, speak] = [true, say];
      answer(line.offer).catch(fail);
    } else if (line.end && isCaller) {
      isCaller = false;
      end().catch(fail);
    }
  });
});
server.on('error', fail);
server.listen(values.socket);
process.on('SIGTERM', () => fail('terminated'));
setTimeout(() => fail('the call does not end'), Number(values['at-most']) * 1000).unref();
