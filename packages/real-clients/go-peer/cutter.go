package main

import (
	"errors"
	"net"
	"sync"
)

// cutter ends connections without a word.
type cutter struct {
	mutex sync.Mutex
	open  map[net.Conn]bool
	// left is what may still be written before all are cut; negative: no end is in sight.
	left int
}

// cut ends all connections: now, or when they have written some bytes more.
func (c *cutter) cut(bytes int) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.left = bytes
	if bytes == 0 {
		c.endAll()
	}
}

func (c *cutter) endAll() {
	c.left = -1
	for connection := range c.open {
		_ = connection.(*watchedConn).Conn.(*net.TCPConn).SetLinger(0)
		_ = connection.Close()
	}
	c.open = map[net.Conn]bool{}
}

// over watches what a listener accepts.
func (c *cutter) over(listener net.Listener) net.Listener {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.left = -1
	c.open = map[net.Conn]bool{}
	return &watchedListener{listener, c}
}

type watchedListener struct {
	net.Listener
	cutter *cutter
}

func (l *watchedListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	watched := &watchedConn{connection, l.cutter}
	l.cutter.mutex.Lock()
	defer l.cutter.mutex.Unlock()
	l.cutter.open[watched] = true
	return watched, nil
}

type watchedConn struct {
	net.Conn
	cutter *cutter
}

func (w *watchedConn) Write(bytes []byte) (int, error) {
	w.cutter.mutex.Lock()
	defer w.cutter.mutex.Unlock()
	if w.cutter.left < 0 || len(bytes) < w.cutter.left {
		if w.cutter.left > 0 {
			w.cutter.left -= len(bytes)
		}
		return w.Conn.Write(bytes)
	}
	written, _ := w.Conn.Write(bytes[:w.cutter.left])
	w.cutter.endAll()
	return written, errors.New("cut")
}
